package terminal

import (
	"fmt"
	"io"
	"path"
	"strings"

	"svc.example/internal/ground/plaintext"
)

// Wrap breaks a line between words into lines of at most width columns; 0 is no bound.
// The later lines begin with as many blanks as the first one, plus indent. Text that a
// person copies stays whole, and the terminal breaks it: a longer word, such as an
// address or a hash, and an svc command on an indented line of its own.
func Wrap(line string, width, indent int) (lines []string) {
	blanks := line[:len(line)-len(strings.TrimLeft(line, " "))]
	if width == 0 || blanks != "" && isCommand(line) {
		return []string{line}
	}
	next := blanks + strings.Repeat(" ", indent)
	for columnsOf(line) > width {
		at := breakOf(line, width)
		if at < 0 {
			break
		}
		lines = append(lines, strings.TrimRight(line[:at], " "))
		line = next + strings.TrimLeft(line[at:], " ")
	}
	return append(lines, line)
}

// breakOf is where to break a line that is too long: at the last blank that leaves at most
// width columns before it, otherwise at the first one after; -1 for none.
func breakOf(line string, width int) (at int) {
	at = -1
	used, words := 0, false
	for i, r := range line {
		if r == ' ' && words && strings.TrimLeft(line[i:], " ") != "" {
			if used > width && at >= 0 {
				return at
			}
			at = i
		}
		used, words = used+columnsOfRune(r), words || r != ' '
	}
	return at
}

// isCommand reports whether text is a command of this program.
func isCommand(text string) bool {
	name, _, more := strings.Cut(strings.TrimLeft(text, " "), " ")
	return more && strings.TrimSuffix(path.Base(strings.ReplaceAll(name, `\`, "/")), ".exe") == "svc"
}

// longestWord is how many columns the longest part of text has that stays whole.
func longestWord(text string) (columns int) {
	if isCommand(text) {
		return columnsOf(text)
	}
	for word := range strings.FieldsSeq(text) {
		columns = max(columns, columnsOf(word))
	}
	return columns
}

// Printf prints one formatted line on w and adds the newline; on a terminal the line is
// wrapped. Values in it are shown as in a Table. A closed standard output has no reader,
// so there is no error.
func Printf(w io.Writer, format string, args ...any) {
	printWrapped(w, Width(w), fmt.Sprintf(format, args...))
}

// printWrapped is Printf for a terminal of so many columns.
func printWrapped(w io.Writer, width int, line string) {
	fmt.Fprintln(w, strings.Join(Wrap(plaintext.Line(line), width, 2), "\n"))
}

// Askf prints a question, wrapped as by Printf, and a blank after it, where the answer is
// typed.
func Askf(w io.Writer, format string, args ...any) {
	question := plaintext.Line(fmt.Sprintf(format, args...))
	fmt.Fprint(w, strings.Join(Wrap(question, max(Width(w)-1, 0), 0), "\n")+" ")
}
