package lease_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"svc.example/internal/db"
	"svc.example/internal/lease"
)

func TestRunnerWorksWhatIsAddedAndTriesAgain(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, e engine) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := make(chan int64, 8)
		runner := lease.Runner{
			DB: e.DB, Queue: "frame", Holder: "runner", Parallel: 2, Life: life, Log: slog.New(slog.DiscardHandler),
			Delay: func(int64) time.Duration { return 0 },
			Work: func(ctx context.Context, l lease.Lease) error {
				if l.Attempt == 1 {
					return errors.New("first try fails")
				}
				if err := e.Write(ctx, func(tx *db.Tx) error { return lease.Finish(ctx, tx, l.Ref()) }); err != nil {
					return err
				}
				done <- l.Item
				return nil
			},
		}
		var wg sync.WaitGroup
		wg.Go(func() { runner.Run(ctx) })
		e.add("JOB-1", 3)
		for range 3 {
			select {
			case <-done:
			case <-time.After(20 * time.Second):
				t.Fatal("work was not done")
			}
		}
		cancel()
		wg.Wait()
	})
}

// TestAnEarlierClaimIsNeverTakenForALaterOne drops work that a runner has in hand
// and adds it again: the same runner's second claim has the same attempt number.
func TestAnEarlierClaimIsNeverTakenForALaterOne(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, e engine) {
		ctx, cancel := context.WithCancel(t.Context())
		claims, over := make(chan lease.Lease), make(chan struct{})
		runner := lease.Runner{
			DB: e.DB, Queue: "frame", Holder: "runner", Parallel: 2, Life: life, Log: slog.New(slog.DiscardHandler),
			Delay: func(int64) time.Duration { return 0 },
			Work: func(_ context.Context, l lease.Lease) error {
				claims <- l
				<-over
				return lease.ErrLost
			},
		}
		var wg sync.WaitGroup
		wg.Go(func() { runner.Run(ctx) })
		defer wg.Wait()
		defer cancel()
		defer close(over)
		next := func() lease.Lease {
			e.add("JOB-1", 1)
			select {
			case l := <-claims:
				return l
			case <-time.After(20 * time.Second):
				t.Fatal("nobody claims")
				return lease.Lease{}
			}
		}
		first := next()
		e.must(func(tx *db.Tx) error { return lease.Drop(ctx, tx, "frame", "JOB-1") })
		second := next()
		beat := func(l lease.Lease) error {
			return e.write(func(tx *db.Tx) error { return lease.Beat(ctx, tx, l.Ref(), 0, life) })
		}
		if err := beat(first); !errors.Is(err, lease.ErrLost) {
			t.Errorf("a report of the claim before the drop: %v", err)
		}
		if err := beat(second); err != nil {
			t.Error(err)
		}
	})
}
