// Package sheet writes tables that spreadsheets open: CSV whose amounts add up and whose texts
// stay texts, whatever separators and decimal sign the reader's language has.
//
// What always holds: no text of a stranger becomes a formula or another cell, also in a program
// that splits cells at semicolons and tabs. Start reading at Writer.
package sheet

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Form is how a table is written.
type Form struct {
	// DecimalComma writes amounts as -1234,56 and separates cells by semicolons, which is what
	// spreadsheets expect in most languages of Europe and South America. They would otherwise
	// take amounts for text, and add them up to 0.
	DecimalComma bool
}

// Amount is a number of cents in a cell, which shows dollars.
type Amount int64

// Seconds is a time in a cell, to the millisecond.
type Seconds float64

// Writer writes rows. Flush tells whether all were written.
type Writer struct {
	form Form
	out  *bufio.Writer
}

// New returns a writer to w.
func New(w io.Writer, form Form) *Writer { return &Writer{form, bufio.NewWriter(w)} }

// Row writes a row. A cell is a text (any string type), an Amount, Seconds, or an integer.
func (w *Writer) Row(cells ...any) {
	separator := byte(',')
	if w.form.DecimalComma {
		separator = ';'
	}
	for i, cell := range cells {
		if i > 0 {
			_ = w.out.WriteByte(separator) // Flush keeps the error
		}
		switch cell := cell.(type) {
		case Amount:
			_, _ = w.out.WriteString(w.form.amount(cell))
		case Seconds:
			_, _ = w.out.WriteString(strings.Replace(strconv.FormatFloat(float64(cell), 'f', 3, 64), ".", w.form.point(), 1))
		case int, int64:
			_, _ = fmt.Fprint(w.out, cell)
		default:
			_, _ = w.out.WriteString(quoted(fmt.Sprint(cell)))
		}
	}
	_, _ = w.out.WriteString("\n")
}

// Flush hands all rows to the reader, and returns the first error of any row.
func (w *Writer) Flush() error { return w.out.Flush() }

// amount writes cents in dollars, below zero with a minus sign.
func (f Form) amount(a Amount) string {
	sign := ""
	if a < 0 {
		sign, a = "-", -a
	}
	return fmt.Sprintf("%s%d%s%02d", sign, a/100, f.point(), a%100)
}

// point is the decimal sign.
func (f Form) point() string {
	if f.DecimalComma {
		return ","
	}
	return "."
}

// quoted is a text as one cell. Text that holds any separator is quoted.
func quoted(text string) string {
	text = guarded(text)
	if !strings.ContainsAny(text, ",;\t\r\n\"") && !strings.HasPrefix(text, " ") {
		return text
	}
	return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
}

// formula are the characters that begin a formula, also as East Asian keyboards type them.
const formula = "=+-@＝＋－＠"

// guarded puts an apostrophe before each part of a text that a spreadsheet could take for a
// formula. Parts end at separators, because a program that splits at semicolons splits a quoted
// text as well if it stands in a table of commas.
func guarded(text string) string {
	var b strings.Builder
	for text != "" {
		end := strings.IndexAny(text, ",;\t\r\n") + 1
		if end == 0 {
			end = len(text)
		}
		part := text[:end]
		if start := strings.TrimLeft(part, "\" \t\r\n"); start != "" && strings.ContainsRune(formula, []rune(start)[0]) {
			b.WriteByte('\'')
		}
		b.WriteString(part)
		text = text[end:]
	}
	return b.String()
}
