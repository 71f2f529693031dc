package terminal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// ErrDeclined means that the person did not answer yes.
var ErrDeclined = errors.New("nothing was changed")

// Confirm says what a command will change and returns nil after a yes, typed on in. Piped
// input never counts, whatever it says: without a terminal the answer is wrong usage, and
// the message says how to confirm beforehand. Errors: ErrDeclined for any other answer,
// and that of ctx.
func Confirm(ctx context.Context, in *os.File, out io.Writer, what string) error {
	if !IsTerminal(in) {
		return WrongUsagef("nothing was changed: there is no terminal to ask on; add --yes to do this: %s", what)
	}
	Printf(out, "This will %s.", what)
	Askf(out, "Go on? [y/N]")
	yes, err := Yes(ctx, in, out)
	if err == nil && !yes {
		return ErrDeclined
	}
	return err
}

// Yes reads the answer to a question and reports whether it is y or yes. The end of the
// input counts as no. Errors are those of Answer.
func Yes(ctx context.Context, in io.Reader, out io.Writer) (bool, error) {
	word, err := Answer(ctx, in, out)
	return IsYes(word), err
}

// IsYes reports whether an answer is y or yes.
func IsYes(word string) bool { return word == "y" || word == "yes" }

// Answer reads the answer to a question, in lower case; "" at the end of the input. The end
// of ctx returns its error; the goroutine that reads is then left behind, because a read
// from a terminal cannot be cancelled, and ends with the process.
func Answer(ctx context.Context, in io.Reader, out io.Writer) (word string, err error) {
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(in).ReadString('\n')
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(out)
		return "", ctx.Err()
	case word := <-answer:
		return word, nil
	}
}

// Secret asks on a terminal and reads a line without showing it, from before the question
// on: whoever pastes does not wait. The end of ctx, as by Ctrl-C, returns its error and
// gives the terminal back as it was; what reads is left behind as in Yes.
func Secret(ctx context.Context, in *os.File, out io.Writer, question string) (string, error) {
	before, err := term.GetState(int(in.Fd()))
	if err == nil {
		err = hideTyping(int(in.Fd()))
	}
	if err != nil {
		return "", err
	}
	Askf(out, "%s", question)
	type read struct {
		line []byte
		err  error
	}
	done := make(chan read, 1)
	go func() {
		line, err := term.ReadPassword(int(in.Fd()))
		done <- read{line, err}
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(out)
		return "", errors.Join(ctx.Err(), term.Restore(int(in.Fd()), before))
	case r := <-done:
		fmt.Fprintln(out)
		if errors.Is(r.err, io.EOF) {
			r.err = nil // nothing was typed
		}
		return string(r.line), errors.Join(r.err, term.Restore(int(in.Fd()), before))
	}
}
