//go:build unix

package terminal

import (
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/term"
)

// asked puts a question to the terminal of this process. It opens the terminal again:
// reads of that file end at a deadline, and no goroutine is left that takes what is typed
// later. It returns false if there is no such terminal.
func asked(question func(tty io.ReadWriter) bool) (yes bool) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR|syscall.O_NOCTTY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer func() { _ = tty.Close() }()
	raw, err := tty.SyscallConn()
	if err != nil || tty.SetReadDeadline(time.Now().Add(answerTime)) != nil {
		return false
	}
	var before *term.State
	_ = raw.Control(func(fd uintptr) { before, err = term.MakeRaw(int(fd)) })
	if err != nil || before == nil {
		return false
	}
	defer func() { _ = raw.Control(func(fd uintptr) { _ = term.Restore(int(fd), before) }) }()
	return question(tty)
}
