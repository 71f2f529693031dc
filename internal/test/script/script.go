// Package script writes programs that a test then runs.
//
// What always holds: a program that Write has written can be run at once, also while other
// tests of the process start programs of their own.
package script

import (
	"os"
	"syscall"
	"testing"
)

// Write writes a program that the shell runs, and returns its path. text follows the first
// line, "#!/bin/sh".
//
// A program that any process has open to write cannot be run ("text file busy"), and one
// that this process starts at the wrong moment inherits what is open here. So nothing is
// started while the file is open.
func Write(t testing.TB, path, text string) string {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
		t.Error(err)
	}
	return path
}
