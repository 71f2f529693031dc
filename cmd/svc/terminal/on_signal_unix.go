//go:build unix

package terminal

import (
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// OnSignal returns a channel that is closed when the process gets a signal, by its name with
// or without SIG; nil for "". TERM, INT and KILL have another meaning and are refused, like
// a name that no signal has.
func OnSignal(name string) (<-chan struct{}, error) {
	if name == "" {
		return nil, nil
	}
	number := unix.SignalNum("SIG" + strings.TrimPrefix(strings.ToUpper(name), "SIG"))
	switch number {
	case 0:
		return nil, fmt.Errorf("there is no signal %q; use USR1 or USR2", name)
	case syscall.SIGTERM, syscall.SIGINT, syscall.SIGKILL, syscall.SIGSTOP:
		return nil, fmt.Errorf("the signal %s has another meaning; use USR1 or USR2", name)
	}
	came, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(came, number)
	go func() {
		<-came
		close(done) // the signal stays caught: a second one must not end the process
	}()
	return done, nil
}
