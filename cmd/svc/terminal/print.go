package terminal

import (
	"encoding/json"
	"fmt"
	"io"
)

// PrintJSON writes a command's result for programs: one indented JSON value and a
// newline. Characters such as & and < stay as they are: the output is not HTML, and
// a link must be usable as it is printed. An error is one of encoding or of w.
func PrintJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("print the result: %w", err)
	}
	return nil
}

// Money formats an amount in cents with its currency, as in "0.24 USD". cents must
// not be negative.
func Money(cents int64, currency string) string {
	return fmt.Sprintf("%d.%02d %s", cents/100, cents%100, currency)
}

// CountOf formats a number of things, such as "1 frame" or "3 frames". thing must
// form its plural with an s.
func CountOf(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
