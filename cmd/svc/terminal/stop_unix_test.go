//go:build unix

package terminal

import (
	"syscall"
	"testing"

	"svc.example/internal/test/await"
)

// TestSecondSignalAtOnceIsTheSameOne sends this process both: were the second
// one acted on, it would end here.
func TestSecondSignalAtOnceIsTheSameOne(t *testing.T) {
	ctx, stop := UntilSignal()
	defer stop()
	for range 2 {
		if err := syscall.Kill(syscall.Getpid(), syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		await.Next(t, ctx.Done(), "the end that a signal asks for")
	}
}
