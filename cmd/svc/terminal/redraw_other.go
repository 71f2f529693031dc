//go:build !windows

package terminal

import "os"

// takesEscapes is true of every terminal but those that say that they are not able to.
func takesEscapes(*os.File) bool { return os.Getenv("TERM") != "dumb" }
