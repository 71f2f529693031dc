//go:build unix

package terminal

import (
	"syscall"
	"testing"

	"svc.example/internal/test/await"
)

func TestOnSignalTellsOfTheSignalAndRefusesOthers(t *testing.T) {
	for _, name := range []string{"TERM", "sigint", "KILL", "STOP", "NONSENSE", "9"} {
		if _, err := OnSignal(name); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	if done, err := OnSignal(""); done != nil || err != nil {
		t.Errorf("no signal: %v, %v", done, err)
	}
	done, err := OnSignal("usr2")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second must not end this process
		if err := syscall.Kill(syscall.Getpid(), syscall.SIGUSR2); err != nil {
			t.Fatal(err)
		}
	}
	await.Until(t, "the signal", func() bool {
		select {
		case <-done:
			return true
		default:
			return false
		}
	})
}
