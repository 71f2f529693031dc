//go:build unix

package terminal

import "golang.org/x/sys/unix"

// hideTyping has a terminal show no more what is typed. Ctrl-C still is one.
func hideTyping(fd int) error {
	state, err := unix.IoctlGetTermios(fd, readState)
	if err != nil {
		return err
	}
	state.Lflag &^= unix.ECHO
	return unix.IoctlSetTermios(fd, writeState, state)
}
