package terminal

import "os"

// Redraws reports whether a stream is a terminal that moves its cursor and clears lines in
// response to escape sequences. Otherwise write lines, one after the other. Windows consoles
// are switched to that mode, which those before Windows 10 do not have.
func Redraws(stream any) bool {
	return IsTerminal(stream) && takesEscapes(stream.(*os.File))
}
