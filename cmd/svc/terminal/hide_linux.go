package terminal

import "golang.org/x/sys/unix"

const (
	readState  = unix.TCGETS
	writeState = unix.TCSETS
)
