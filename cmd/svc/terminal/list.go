package terminal

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/term"

	"svc.example/internal/ground/plaintext"
)

// Width is how many columns w shows: 0 for no limit, if it is not a terminal.
func Width(w io.Writer) int {
	width, _ := Screen(w)
	return width
}

// Screen is how many columns and lines w shows: 0 where it is no terminal.
func Screen(w io.Writer) (columns, lines int) {
	if !IsTerminal(w) {
		return 0, 0
	}
	columns, lines, err := term.GetSize(int(fileOf(w).Fd()))
	if err != nil {
		return 0, 0
	}
	return columns, lines
}

// Column is a column of a List.
type Column struct {
	Title string
	// Cut says that the column may be cut to shortestCut, with … at its end.
	Cut bool
	// Spare is when the column is left out of a list that is wider than the terminal:
	// the highest first, 0 never.
	Spare int
}

// shortestCut is the least width of a column that is cut.
const shortestCut = 12

// List is a table of things, one a line, that fits the terminal: first it cuts what may
// be cut, then it leaves out what can be spared. On a terminal too narrow for that, each
// thing has several lines: its first cell, and below it the others, all of them and whole.
// Where there is no
// terminal, every cell is whole. As in a Table, no cell can break a row or move the
// cursor.
type List struct {
	columns []Column
	rows    [][]string
}

// NewList returns a list with these columns.
func NewList(columns ...Column) *List { return &List{columns: columns} }

// Row adds a line with a cell for each column.
func (l *List) Row(cells ...string) {
	shown := make([]string, len(cells))
	for i, cell := range cells {
		shown[i] = plaintext.Line(cell)
	}
	l.rows = append(l.rows, shown)
}

// Lines returns the list as lines for a terminal of so many columns, 0 for no terminal,
// the titles first.
func (l *List) Lines(width int) []string {
	widths := l.fit(width)
	if width > 0 && lineOf(widths) > width {
		return l.stacked(width)
	}
	titles := make([]string, len(l.columns))
	for i, c := range l.columns {
		titles[i] = c.Title
	}
	lines := []string{joined(titles, widths)}
	for _, row := range l.rows {
		lines = append(lines, joined(row, widths))
	}
	return lines
}

// stacked is the list for a narrow terminal: the first cell of each row, and below it,
// indented by two, the others after their titles, as many as fit on a line.
func (l *List) stacked(width int) (lines []string) {
	for _, row := range l.rows {
		lines = append(lines, row[0])
		line := ""
		for i, cell := range row {
			if i == 0 || cell == "" || cell == "-" {
				continue
			}
			cell = strings.ToLower(l.columns[i].Title) + " " + cell
			if line != "" && columnsOf(line)+2+columnsOf(cell) > width {
				lines, line = append(lines, Wrap(line, width, 2)...), ""
			}
			line += "  " + cell
		}
		if line != "" {
			lines = append(lines, Wrap(line, width, 2)...)
		}
	}
	return lines
}

// Print writes the list for the terminal, or the file, that w is.
func (l *List) Print(w io.Writer) {
	for _, line := range l.Lines(Width(w)) {
		fmt.Fprintln(w, line) // a closed standard output has no reader
	}
}

// PrintBelow is Print below other output, with an empty line before the list; a list
// without things prints nothing.
func (l *List) PrintBelow(w io.Writer) {
	if len(l.rows) > 0 {
		fmt.Fprintln(w)
		l.Print(w)
	}
}

// fit returns the widths of the columns with which a line has at most width columns, if
// that is possible; 0 leaves a column out. A width of 0 is no bound.
func (l *List) fit(width int) []int {
	left := make([]bool, len(l.columns)) // out
	for {
		widths := l.natural(left)
		over := lineOf(widths) - width
		if width == 0 {
			return widths
		}
		for i, c := range l.columns {
			if c.Cut && over > 0 {
				cut := min(over, max(widths[i]-shortestCut, 0))
				widths[i], over = widths[i]-cut, over-cut
			}
		}
		spared := l.mostSpare(left)
		if over <= 0 || spared < 0 {
			return widths
		}
		left[spared] = true
	}
}

// natural returns how wide the columns are where nothing is cut.
func (l *List) natural(left []bool) []int {
	widths := make([]int, len(l.columns))
	for i, c := range l.columns {
		if left[i] {
			continue
		}
		widths[i] = columnsOf(c.Title)
		for _, row := range l.rows {
			widths[i] = max(widths[i], columnsOf(row[i]))
		}
	}
	return widths
}

// lineOf is how wide a line of such columns is, with two columns between them.
func lineOf(widths []int) int {
	line := -2
	for _, w := range widths {
		if w > 0 {
			line += w + 2
		}
	}
	return line
}

// mostSpare is the column to leave out next, -1 for none.
func (l *List) mostSpare(left []bool) int {
	spared := -1
	for i, c := range l.columns {
		if c.Spare > 0 && !left[i] && (spared < 0 || c.Spare > l.columns[spared].Spare) {
			spared = i
		}
	}
	return spared
}

// joined is a line of cells, each as wide as its column.
func joined(cells []string, widths []int) string {
	var line strings.Builder
	for i, cell := range cells {
		if widths[i] == 0 {
			continue
		}
		cell = Cut(cell, widths[i])
		line.WriteString(cell + strings.Repeat(" ", widths[i]-columnsOf(cell)+2))
	}
	return strings.TrimRight(line.String(), " ")
}

// Cut returns text in at most width columns, with … at its end where it is longer.
func Cut(text string, width int) string {
	if columnsOf(text) <= width {
		return text
	}
	used := 0
	for i, r := range text {
		if used += columnsOfRune(r); used > width-1 {
			return text[:i] + "…"
		}
	}
	return text
}

// Fit returns lines that a terminal of so many columns and lines shows at once, with the
// cursor below them: what is too long is cut, and what is too much is counted.
func Fit(lines []string, columns, most int) []string {
	if most--; len(lines) > most && most > 0 {
		left := len(lines) - most + 1
		lines = append(slices.Clone(lines[:most-1]), fmt.Sprintf("… %s more", CountOf(left, "line")))
	}
	if columns == 0 {
		return lines
	}
	fit := make([]string, len(lines))
	for i, line := range lines {
		fit[i] = Cut(line, columns)
	}
	return fit
}

func columnsOf(text string) (n int) {
	for _, r := range text {
		n += columnsOfRune(r)
	}
	return n
}

// columnsOfRune is how wide terminals draw a character: the scripts of East Asia and
// pictures take two columns, marks above a letter none.
func columnsOfRune(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case unicode.In(r, unicode.Han, unicode.Hangul), r >= 0x3000 && r <= 0x30ff, r >= 0xff01 && r <= 0xff60, r >= 0x1f300 && r <= 0x1faff:
		return 2
	}
	return 1
}

// Ago is how long ago a time was, in one unit, such as "5 min ago".
func Ago(at, now time.Time) string {
	d := max(now.Sub(at), 0)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s ago", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	}
	return fmt.Sprintf("%d days ago", int(d.Hours()/24))
}

// Span writes a time without units of zero at its end, such as 2h.
func Span(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// Time shows a moment to the second, in UTC, as receipts and logs do.
func Time(at time.Time) string { return at.UTC().Format("2006-01-02 15:04:05 UTC") }
