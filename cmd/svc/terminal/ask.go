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
// input never counts: without a terminal the answer is wrong usage, and the message says
// how to confirm beforehand. Errors: ErrDeclined for any other answer, and that of ctx.
func Confirm(ctx context.Context, in *os.File, out io.Writer, what string) error {
	if !IsTerminal(in) {
		return WrongUsagef("nothing was changed: there is no terminal to confirm this; add --yes to: %s", what)
	}
	Printf(out, "This will %s.", what)
	Askf(out, "Continue? [y/N]")
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
// of ctx returns its error.
func Answer(ctx context.Context, in io.Reader, out io.Writer) (word string, err error) {
	line, err := awaitLine(ctx, in)
	if err != nil {
		fmt.Fprintln(out)
	}
	return strings.ToLower(strings.TrimSpace(line)), err
}

// awaitLine reads a line, to the end of the input at most. The end of ctx returns its
// error; the goroutine that reads then keeps running, because a read from a terminal
// cannot be cancelled, and ends with the process.
func awaitLine(ctx context.Context, in io.Reader) (string, error) {
	read := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(in).ReadString('\n')
		read <- line
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case line := <-read:
		return line, nil
	}
}

// Secret asks on a terminal and reads a line without showing it, even while it prints the
// question: a person who pastes does not wait. The end of ctx, as by Ctrl-C, returns its
// error and gives the terminal back as it was.
func Secret(ctx context.Context, in *os.File, out io.Writer, question string) (string, error) {
	before, err := term.GetState(int(in.Fd()))
	if err == nil {
		err = hideTyping(int(in.Fd()))
	}
	if err != nil {
		return "", err
	}
	Askf(out, "%s", question)
	// The reader may keep running, so it must not change the terminal, as
	// term.ReadPassword does: it could hide typing again after the terminal was given
	// back.
	line, err := awaitLine(ctx, in)
	fmt.Fprintln(out)
	return strings.TrimRight(line, "\r\n"), errors.Join(err, term.Restore(int(in.Fd()), before))
}
