package terminal

import "golang.org/x/sys/windows"

// hideTyping has a console show no more what is typed. Ctrl-C still is one.
func hideTyping(fd int) error {
	var mode uint32
	if err := windows.GetConsoleMode(windows.Handle(fd), &mode); err != nil {
		return err
	}
	return windows.SetConsoleMode(windows.Handle(fd), mode&^windows.ENABLE_ECHO_INPUT)
}

// hideControls does nothing: a console does not show ^C.
func hideControls(int) (show func()) { return func() {} }
