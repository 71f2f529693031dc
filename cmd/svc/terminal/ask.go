package terminal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// ErrDeclined means that the person did not answer yes.
var ErrDeclined = errors.New("nothing was changed")

// Confirm says what a command will change and returns nil after a yes, typed on in. Piped
// input never counts, whatever it says: without a terminal the answer is wrong usage, and
// the message says how to confirm beforehand. Error: ErrDeclined for any other answer.
func Confirm(in *os.File, out io.Writer, what string) error {
	if !IsTerminal(in) {
		return WrongUsagef("nothing was changed: there is no terminal to ask on; add --yes to do this: %s", what)
	}
	fmt.Fprintf(out, "This will %s.\nGo on? [y/N] ", what)
	line, _ := bufio.NewReader(in).ReadString('\n') // end of input counts as no
	if word := strings.ToLower(strings.TrimSpace(line)); word != "y" && word != "yes" {
		return ErrDeclined
	}
	return nil
}
