//go:build !linux

package terminal

import "io"

// isJournal is false where there is no systemd.
func isJournal(io.Writer) bool { return false }
