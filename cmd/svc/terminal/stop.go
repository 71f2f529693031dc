package terminal

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// sameSignal is how long after a first signal further ones count as the same: a
// terminal, a shell and a supervisor may each pass one on.
const sameSignal = 2 * time.Second

// UntilSignal returns a context that ends with the first SIGINT or SIGTERM. One
// that comes more than sameSignal later ends the process at once. Call stop when
// there is nothing left to end.
func UntilSignal() (ctx context.Context, stop context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case <-signals:
			// Until the handler goes, signals have nobody who acts on them.
			time.AfterFunc(sameSignal, func() { signal.Stop(signals) })
			cancel()
		case <-ctx.Done():
			signal.Stop(signals)
		}
	}()
	return ctx, cancel
}
