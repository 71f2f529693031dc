package lease

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"svc.example/internal/ground/db"
)

// Runner works off one queue inside the server process.
type Runner struct {
	DB     *db.DB
	Queue  Queue
	Holder string // unique to this process
	// Parallel is how many pieces are worked on at once; 1 when 0.
	Parallel int
	// Work does one piece. It must Finish the lease in its own transaction. An
	// error fails the piece: see Queue.Fail.
	Work func(ctx context.Context, l Lease) error
	Log  *slog.Logger
}

// Paces of a runner.
const (
	// idlePoll is how long a runner sleeps at most when nobody wakes it.
	idlePoll = 5 * time.Second
	// shortest is how long it sleeps at least: what is due may be another's.
	shortest = 50 * time.Millisecond
	// together is how many pieces are claimed at once.
	together = 16
)

// Run works until ctx ends, and then waits for the pieces in hand.
func (r Runner) Run(ctx context.Context) {
	wake, stop := r.DB.Listen(Topic(r.Queue.Name))
	defer stop()
	slots := make(chan struct{}, max(1, r.Parallel))
	var inHand sync.WaitGroup
	defer inHand.Wait()
	for claims := 1; ; claims++ {
		n := occupy(ctx, slots)
		if n == 0 {
			return
		}
		got, sleep := r.claim(ctx, claims, n)
		for _, l := range got {
			inHand.Go(func() {
				defer func() { <-slots }()
				r.work(ctx, l)
			})
		}
		for range n - len(got) {
			<-slots
		}
		if len(got) > 0 {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-wake:
		case <-time.After(sleep):
		}
	}
}

// occupy waits for a slot and takes what else is free, up to together; none when
// ctx ends.
func occupy(ctx context.Context, slots chan<- struct{}) (n int) {
	select {
	case <-ctx.Done():
		return 0
	case slots <- struct{}{}:
	}
	for n = 1; n < together; n++ {
		select {
		case slots <- struct{}{}:
		default:
			return n
		}
	}
	return n
}

// claim takes up to n pieces; without any it says how long to sleep. Each claim
// has a holder of its own: a piece that was dropped and added again counts its
// attempts anew, and who had it before must not be taken for who has it now.
func (r Runner) claim(ctx context.Context, number, n int) (got []Lease, sleep time.Duration) {
	holder := fmt.Sprintf("%s.%d", r.Holder, number)
	err := r.DB.Write(ctx, func(tx *db.Tx) (err error) {
		sleep = idlePoll
		if got, err = Claim(ctx, tx, r.Queue.Name, holder, n, r.Queue.Life); err != nil || len(got) > 0 {
			return err
		}
		due, err := tx.LeaseNextDue(ctx, r.Queue.Name)
		if db.IsNotFound(err) {
			return nil
		}
		sleep = max(shortest, min(idlePoll, db.Time(due).Sub(tx.Time())))
		return err
	})
	if err != nil {
		if ctx.Err() == nil {
			r.Log.Error("cannot claim work", "queue", r.Queue.Name, "error", err)
		}
		return nil, idlePoll
	}
	return got, sleep
}

// work runs one piece under heartbeats. The piece is stopped when its lease is
// lost.
func (r Runner) work(ctx context.Context, l Lease) {
	workCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	var beats sync.WaitGroup
	beats.Go(func() { r.beat(workCtx, cancel, l) })
	failed := r.Work(workCtx, l)
	cancel()
	beats.Wait()
	if failed == nil || errors.Is(failed, ErrLost) {
		return
	}
	r.Log.Warn("work failed", "queue", r.Queue.Name, "subject", l.Subject, "attempt", l.Attempt, "error", failed)
	// The process may be stopping: the report must still go out.
	reportCtx, done := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer done()
	dead := false
	err := r.DB.Write(reportCtx, func(tx *db.Tx) (err error) {
		if ctx.Err() != nil {
			return Release(reportCtx, tx, l.Ref(), r.Queue.Name)
		}
		dead, err = r.Queue.Fail(reportCtx, tx, l, "", failed.Error())
		return err
	})
	if err != nil && !errors.Is(err, ErrLost) {
		r.Log.Error("cannot give work back; it will lapse", "queue", r.Queue.Name, "subject", l.Subject, "error", err)
	}
	if err == nil && dead {
		logDeath(r.Log, l, failed)
	}
}

func (r Runner) beat(ctx context.Context, cancel func(), l Lease) {
	tick := time.NewTicker(r.Queue.Life / 4)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := r.DB.Write(ctx, func(tx *db.Tx) error { return Beat(ctx, tx, l.Ref(), 0, r.Queue.Life) })
		if errors.Is(err, ErrLost) {
			cancel()
			return
		}
	}
}
