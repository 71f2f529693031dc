package terminal

// Redraws reports whether a stream is a terminal that moves its cursor and clears lines
// when it is told to by escape sequences. Where it is none, write lines, one after the other.
// Consoles of Windows are switched to that, and those before Windows 10 cannot.
func Redraws(stream any) bool {
	return IsTerminal(stream) && takesEscapes(fileOf(stream))
}
