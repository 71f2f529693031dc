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

// hideControls has a terminal not show ^C where a bar is drawn, whose line it would tear;
// the key still is one. The returned function gives the terminal back as it was. What is no
// terminal stays as it is.
func hideControls(fd int) (show func()) {
	before, err := unix.IoctlGetTermios(fd, readState)
	if err != nil || before.Lflag&unix.ECHOCTL == 0 {
		return func() {}
	}
	hidden := *before
	hidden.Lflag &^= unix.ECHOCTL
	if unix.IoctlSetTermios(fd, writeState, &hidden) != nil {
		return func() {}
	}
	return func() { _ = unix.IoctlSetTermios(fd, writeState, before) } // a terminal that is gone shows nothing
}
