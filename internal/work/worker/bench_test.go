package worker_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"svc.example/internal/work/worker"
)

// bench is a worker on a server and a renderer of the test's own, or one for each share.
type bench struct {
	t      *testing.T
	server *server
	config worker.Config
	shares []worker.Share
}

func newBench(t *testing.T, s *server, p worker.Renderer) *bench {
	return &bench{t: t, server: s, config: worker.Config{
		Farm: s, Renderer: p, WorkDir: t.TempDir(), Name: "test", Log: slog.New(slog.DiscardHandler),
		Jitter: func() float64 { return 0.5 },
	}}
}

// run starts the worker; the returned function stops it and returns what Run did.
func (b *bench) run() (stop func() error) {
	ctx, cancel := context.WithCancel(b.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.work(ctx) }()
	return func() error {
		cancel()
		return <-ended
	}
}

// ended runs the worker until it ends on its own.
func (b *bench) ended() error { return b.work(b.t.Context()) }

// until waits for something to hold of the server.
func (b *bench) until(what func() bool) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), time.Hour) // of the bubble's time
	defer cancel()
	if err := b.server.wait(ctx, what); err != nil {
		b.t.Fatal("it never came to be")
	}
}

// untilHas waits for the server to have n frames.
func (b *bench) untilHas(n int) {
	b.t.Helper()
	b.until(func() bool { return len(b.server.delivered()) >= n })
}

// untilDelivered waits for n frames in a bubble, and then until the worker has nothing to do
// but wait: what the painters recorded may be read.
func (b *bench) untilDelivered(n int) {
	b.t.Helper()
	b.untilHas(n)
	synctest.Wait()
}

// inBubble runs a test on a clock of its own; at its end nothing may be left running.
func inBubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, test)
}
