package terminal

import (
	"fmt"
	"io"
	"strings"

	"svc.example/internal/ground/plaintext"
)

// shortestText is the least width of a cell that is wrapped next to others; on a
// narrower terminal it goes below them.
const shortestText = 18

// Table prints aligned columns, the last of which is wrapped if the terminal is too
// narrow for it. The contents of cells, including names from files and workers, can
// neither break a row nor move the cursor. A List is for many things of one kind.
type Table struct {
	w    io.Writer
	rows [][]string
}

// NewTable returns a table that appears on w with Flush.
func NewTable(w io.Writer) *Table { return &Table{w: w} }

// Row adds a row of cells. Without any it is an empty line, and the rows below have
// columns of their own.
func (t *Table) Row(cells ...string) {
	shown := make([]string, len(cells))
	for i, cell := range cells {
		shown[i] = plaintext.Line(cell)
	}
	t.rows = append(t.rows, shown)
}

// Rowf adds a row of a name and a formatted value.
func (t *Table) Rowf(name, format string, args ...any) { t.Row(name, fmt.Sprintf(format, args...)) }

// Flush prints the table. The error is that of the writer.
func (t *Table) Flush() error {
	for _, line := range t.Lines(Width(t.w)) {
		if _, err := fmt.Fprintln(t.w, line); err != nil {
			return err
		}
	}
	return nil
}

// Say prints the table on a display, above a bar that may be drawn.
func (t *Table) Say(to Display) {
	for _, line := range t.Lines(to.Width()) {
		to.Say("%s", line)
	}
}

// Lines returns the table as lines for a terminal of so many columns, 0 for no terminal.
func (t *Table) Lines(width int) (lines []string) {
	for i, row := range t.rows {
		if len(row) == 0 {
			lines = append(lines, "")
			continue
		}
		lines = append(lines, rowLines(row, t.widths(i), width)...)
	}
	return lines
}

// widths are those of the columns around a row, up to the next empty rows. A row's last
// cell ends its line, and no column has to be as wide.
func (t *Table) widths(row int) (widths []int) {
	from, to := row, row
	for from > 0 && len(t.rows[from-1]) > 0 {
		from--
	}
	for to < len(t.rows) && len(t.rows[to]) > 0 {
		to++
	}
	for _, cells := range t.rows[from:to] {
		for i, cell := range cells[:len(cells)-1] {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], columnsOf(cell))
		}
	}
	return widths
}

// rowLines are the lines of a row.
func rowLines(cells []string, widths []int, width int) []string {
	var left strings.Builder
	for i, cell := range cells[:len(cells)-1] {
		left.WriteString(cell + strings.Repeat(" ", widths[i]-columnsOf(cell)+2))
	}
	before, text := left.String(), cells[len(cells)-1]
	room := width - columnsOf(before)
	switch {
	case width == 0 || columnsOf(text) <= room:
		return []string{strings.TrimRight(before+text, " ")}
	case room >= shortestText && longestWord(text) <= room:
		lines := Wrap(text, room, 0)
		for i := range lines {
			lines[i] = before + lines[i]
			before = strings.Repeat(" ", width-room)
		}
		return lines
	}
	var lines []string
	if before = strings.TrimRight(before, " "); before != "" {
		lines = Wrap(before, width, 2)
	}
	return append(lines, Wrap("  "+text, width, 0)...)
}
