package profile

import (
	"fmt"
	"io"
	"os"
	"time"

	"svc.example/client"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/redact"
)

// againAfter is the time between two lines about a failure that lasts, where nothing
// bounds the tries.
const againAfter = 30 * time.Second

// Retrying makes a client say what went wrong, and that it will retry, before it
// waits: a person must see what a command is doing.
func Retrying(server string, say func(format string, args ...any)) client.Option {
	last, at := "", time.Time{}
	return client.WithOnRetry(func(r client.Retry) {
		what, _ := diagnose(server, r.Err)
		if what == "" {
			what = redact.Text(r.Err.Error())
		}
		if r.Attempts == 0 && what == last && time.Since(at) < againAfter {
			return
		}
		last, at = what, time.Now()
		say("%s; %s", what, again(r))
	})
}

// again says when the next attempt comes, and how many there are.
func again(r client.Retry) string {
	text := "trying again"
	if r.Wait >= time.Second {
		text += " in " + r.Wait.Round(time.Second).String()
	}
	if r.Attempts == 0 {
		return text + " until it answers; Ctrl-C ends that"
	}
	return fmt.Sprintf("%s (%d of %d)", text, r.Try, r.Attempts)
}

// onStderr prints a line when no other text is drawn.
func onStderr(format string, args ...any) { terminal.Printf(os.Stderr, "svc: "+format, args...) }

// RetriesOn makes a client report retries on the display, if that draws bars on the
// terminal human: a line on standard error would be overwritten.
func RetriesOn(server string, human io.Writer, display terminal.Display) []client.Option {
	if !terminal.IsTerminal(human) {
		return nil
	}
	return []client.Option{Retrying(server, display.Say)}
}
