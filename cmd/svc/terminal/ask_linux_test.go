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

// A bar is not torn by the ^C that ends it, and the shell shows it again afterwards.
func TestABarHidesControlCharacters(t *testing.T) {
	t.Parallel()
	in, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	shows := func() bool {
		state, err := unix.IoctlGetTermios(int(in.Fd()), readState)
		if err != nil {
			t.Fatal(err)
		}
		return state.Lflag&unix.ECHOCTL != 0
	}
	before := shows()
	show := hideControls(int(in.Fd()))
	if !before || shows() {
		t.Errorf("controls were shown: %t, are: %t", before, shows())
	}
	if show(); !shows() {
		t.Error("controls stay hidden")
	}
}

func TestAnOutputRemembersThatItFailed(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = full.Close() }()
	out := NewOutput(full)
	Printf(out, "a result")
	if !errors.Is(out.Err(), syscall.ENOSPC) {
		t.Errorf("error %v", out.Err())
	}
}
