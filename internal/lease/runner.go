package lease

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"svc.example/internal/db"
)

// Runner works off one queue inside the server process.
type Runner struct {
	DB     *db.DB
	Queue  string
	Holder string // unique to this process
	// Parallel is how many pieces are worked on at once; 1 when 0.
	Parallel int
	// Life is how long a claim lives between heartbeats.
	Life time.Duration
	// Work does one piece. It must Finish the lease in its own transaction. An
	// error gives the piece back, to be tried again after Delay.
	Work func(ctx context.Context, l Lease) error
	// Delay is the pause before try number failures+1.
	Delay func(failures int64) time.Duration
	Log   *slog.Logger
}

// idlePoll is how long a runner sleeps when nothing is due and nobody wakes it:
// work that becomes due by time alone is found by then.
const idlePoll = 5 * time.Second

// Run works until ctx ends, and then waits for the pieces in hand.
func (r Runner) Run(ctx context.Context) {
	wake, stop := r.DB.Listen(Topic(r.Queue))
	defer stop()
	slots := make(chan struct{}, max(1, r.Parallel))
	var inHand sync.WaitGroup
	defer inHand.Wait()
	for {
		select {
		case <-ctx.Done():
			return
		case slots <- struct{}{}:
		}
		l, ok := r.claim(ctx)
		if ok {
			inHand.Go(func() {
				defer func() { <-slots }()
				r.work(ctx, l)
			})
			continue
		}
		<-slots
		select {
		case <-ctx.Done():
			return
		case <-wake:
		case <-time.After(idlePoll):
		}
	}
}

func (r Runner) claim(ctx context.Context) (l Lease, ok bool) {
	err := r.DB.Write(ctx, func(tx *db.Tx) error {
		got, err := Claim(ctx, tx, r.Queue, r.Holder, 1, r.Life)
		if err == nil && len(got) == 1 {
			l, ok = got[0], true
		}
		return err
	})
	if err != nil {
		if ctx.Err() == nil {
			r.Log.Error("cannot claim work", "queue", r.Queue, "error", err)
		}
		return Lease{}, false
	}
	return l, ok
}

// work runs one piece under heartbeats. The piece is stopped when its lease is
// lost.
func (r Runner) work(ctx context.Context, l Lease) {
	workCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	var beats sync.WaitGroup
	beats.Go(func() { r.beat(workCtx, cancel, l) })
	err := r.Work(workCtx, l)
	cancel()
	beats.Wait()
	if err == nil || errors.Is(err, ErrLost) {
		return
	}
	r.Log.Warn("work failed, it will be tried again", "queue", r.Queue, "subject", l.Subject, "attempt", l.Attempt, "error", err)
	// The process may be stopping: the report must still go out.
	reportCtx, done := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer done()
	err = r.DB.Write(reportCtx, func(tx *db.Tx) error {
		if ctx.Err() != nil {
			return Release(reportCtx, tx, l.Ref(), r.Queue)
		}
		_, err := Fail(reportCtx, tx, l.Ref(), "", err.Error(), r.Delay(l.Failures))
		return err
	})
	if err != nil && !errors.Is(err, ErrLost) {
		r.Log.Error("cannot give work back; it will lapse", "queue", r.Queue, "subject", l.Subject, "error", err)
	}
}

func (r Runner) beat(ctx context.Context, cancel func(), l Lease) {
	tick := time.NewTicker(r.Life / 4)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := r.DB.Write(ctx, func(tx *db.Tx) error { return Beat(ctx, tx, l.Ref(), 0, r.Life) })
		if errors.Is(err, ErrLost) {
			cancel()
			return
		}
	}
}
