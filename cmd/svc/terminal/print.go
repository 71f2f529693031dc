package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"svc.example/internal/ground/numbers"
	"svc.example/internal/ground/plaintext"
)

// PrintJSON writes a command's result for programs: one indented JSON value and a
// newline. Characters such as & and < stay as they are: the output is not HTML, and
// a link must be usable as it is printed. Hidden characters are written as JSON's
// escapes of them. An error is one of encoding or of w.
func PrintJSON(w io.Writer, value any) error { return printJSON(w, value, "  ") }

// PrintJSONLine is PrintJSON in one line, for commands that print one value after another.
func PrintJSONLine(w io.Writer, value any) error { return printJSON(w, value, "") }

func printJSON(w io.Writer, value any, indent string) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetIndent("", indent)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	if err == nil {
		_, err = io.WriteString(w, plaintext.Lines(text.String()))
	}
	if err != nil {
		return fmt.Errorf("print the result: %w", err)
	}
	return nil
}

// CountOf formats a number of things, such as "1 frame" or "3 frames". thing must
// form its plural with an s.
func CountOf[N int | int64](n N, thing string) string { return Count(n, thing, thing+"s") }

// Count is CountOf for an irregular plural, such as "leaves".
func Count[N int | int64](n N, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return numbers.Grouped(n) + " " + more
}

// Finding formats what a person should check in count frames, such as "frames 3,7-9:
// Every pixel is black. (black)".
func Finding(frames string, count int, message, code string) string {
	word := "frames"
	if count == 1 {
		word = "frame"
	}
	return fmt.Sprintf("%s %s: %s (%s)", word, frames, message, code)
}
