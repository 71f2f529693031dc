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

// Runner claims and does the work of one queue inside the server process. Only Parallel
// is optional.
type Runner struct {
	DB     *db.DB
	Queue  Queue
	Holder string // unique to this process
	// Parallel is the number of items done at once; 0 means 1.
	Parallel int
	// Work does one item. It must Finish the lease in its own transaction. An error
	// fails the item (see Queue.Fail), except ErrLost.
	Work func(ctx context.Context, l Lease) error
	Log  *slog.Logger
}

// Intervals and batch size of a runner.
const (
	// idlePoll is the longest sleep of a runner that nothing wakes.
	idlePoll = 5 * time.Second
	// minSleep is its shortest sleep: another process may be claiming the due item.
	minSleep = 50 * time.Millisecond
	// maxClaim bounds the items of one claim.
	maxClaim = 16
)

// Run works until ctx ends, and then waits for the items in progress.
func (r Runner) Run(ctx context.Context) {
	wake, stop := r.DB.Listen(Topic(r.Queue.Name))
	defer stop()
	slots := make(chan struct{}, max(1, r.Parallel))
	var inProgress sync.WaitGroup
	defer inProgress.Wait()
	for claims := 1; ; claims++ {
		n := occupy(ctx, slots)
		if n == 0 {
			return
		}
		got, sleep := r.claim(ctx, claims, n)
		for _, l := range got {
			inProgress.Go(func() {
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

// occupy waits for a slot and takes all free ones, up to maxClaim; 0 when ctx ends.
func occupy(ctx context.Context, slots chan<- struct{}) (n int) {
	select {
	case <-ctx.Done():
		return 0
	case slots <- struct{}{}:
	}
	for n = 1; n < maxClaim; n++ {
		select {
		case slots <- struct{}{}:
		default:
			return n
		}
	}
	return n
}

// pauseWhenFull is how long work waits for space on a disk before it is tried again.
const pauseWhenFull = 30 * time.Second

// claim claims up to n items; if there are none it returns how long to sleep. Each claim
// uses its own holder name: an item that was dropped and added again counts its attempts
// from 1, and a report of its earlier claim must not count for the new one.
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
		sleep = max(minSleep, min(idlePoll, db.Time(due).Sub(tx.Time())))
		return err
	})
	if err != nil {
		if ctx.Err() == nil {
			r.Log.Error("cannot claim work", "queue", r.Queue.Name, "err", err)
		}
		return nil, idlePoll
	}
	return got, sleep
}

// work does one item and sends heartbeats meanwhile. It stops when the lease is lost.
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
	r.Log.Warn("work failed", "queue", r.Queue.Name, "subject", l.Subject, "attempt", l.Attempt, "err", failed)
	// The process may be stopping: the report must still be written.
	reportCtx, done := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer done()
	dead := false
	err := r.DB.Write(reportCtx, func(tx *db.Tx) (err error) {
		if ctx.Err() != nil {
			return Release(reportCtx, tx, l.Ref(), r.Queue.Name)
		}
		if db.IsFull(failed) {
			// A full disk is no failure of the work: it waits, however long.
			return Reschedule(reportCtx, tx, l.Ref(), r.Queue.Name, tx.Time().Add(pauseWhenFull))
		}
		dead, err = r.Queue.Fail(reportCtx, tx, l, "", failed.Error())
		return err
	})
	if err != nil && !errors.Is(err, ErrLost) {
		r.Log.Error("cannot return work; it will lapse", "queue", r.Queue.Name, "subject", l.Subject, "err", err)
	}
	if err == nil && dead {
		logDeath(r.Log, l, failed)
	}
}

// beat sends heartbeats until ctx ends. One that fails for another reason than ErrLost is
// repeated at the next tick: two more come before the lease lapses.
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
