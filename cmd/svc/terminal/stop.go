package terminal

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// sameSignal is how long after the first signal further ones count as the same one.
// A terminal, a shell and a supervisor may each pass on a single Ctrl-C, and the
// copies must not turn an orderly stop into an immediate one.
const sameSignal = 2 * time.Second

// UntilSignal returns a context that ends with the first SIGINT, SIGTERM or SIGHUP. A signal
// that comes sameSignal or later after the first one ends the process at once, in
// the way of the operating system. Call stop when there is nothing left to end: it
// releases the goroutine and gives signals their default effect back.
func UntilSignal() (ctx context.Context, stop context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup keeps a program running
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		select {
		case <-signals:
			// The channel stays registered for a while without a reader, so
			// copies of the signal are dropped. Then the default effect returns.
			time.AfterFunc(sameSignal, func() { signal.Stop(signals) })
			cancel()
		case <-ctx.Done():
			signal.Stop(signals)
		}
	}()
	return ctx, cancel
}
