package terminal

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestASecretThatIsNotWaitedForLeavesTheTerminalAsItWas: what still reads must not hide the
// typing again, whenever it comes to run.
func TestASecretThatIsNotWaitedForLeavesTheTerminalAsItWas(t *testing.T) {
	t.Parallel()
	in, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 {
		if _, err := Secret(interrupted, in, io.Discard, "Key:"); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		for range 100 {
			runtime.Gosched() // to what still reads
		}
		state, err := unix.IoctlGetTermios(int(in.Fd()), readState)
		if err != nil {
			t.Fatal(err)
		}
		if state.Lflag&unix.ECHO == 0 {
			t.Fatal("the terminal shows nothing that is typed")
		}
	}
}
