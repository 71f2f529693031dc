//go:build !unix

package terminal

import "io"

// asked asks nothing: a Windows console answers on its input, which others read.
func asked(func(tty io.ReadWriter) bool) bool { return false }
