package terminal

import (
	"os"

	"golang.org/x/sys/windows"
)

// takesEscapes switches a console to escape sequences, as it stays then.
func takesEscapes(file *os.File) bool {
	console := windows.Handle(file.Fd())
	var mode uint32
	if windows.GetConsoleMode(console, &mode) != nil {
		return false
	}
	const sequences = windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING
	return mode&sequences != 0 || windows.SetConsoleMode(console, mode|sequences) == nil
}
