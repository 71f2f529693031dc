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

// TestWhatIsAddedWhileALaneEndsIsNeverLeftAlone has many add to a subject while its
// driver ends it whenever there is nothing to do: what is added is seen by the
// driver, or adds the subject again.
func TestWhatIsAddedWhileALaneEndsIsNeverLeftAlone(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, e engine) {
		const adders, adds = 4, 50
		ctx := t.Context()
		var added sync.WaitGroup
		for adder := range adders {
			added.Go(func() {
				for n := range adds {
					err := e.write(func(tx *db.Tx) error {
						item := int64(adder*adds + n)
						if err := lease.Add(ctx, tx, "letter", "lane", item, time.Time{}); err != nil {
							return err
						}
						return lease.AddBy(ctx, tx, "lane", "lane", 0, tx.Time())
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		over := make(chan struct{})
		go func() { defer close(over); added.Wait() }()
		waiting := func(tx *db.Tx) (n int) {
			n, err := lease.CountDue(ctx, tx, "letter", 1)
			if err != nil {
				t.Error(err)
			}
			return n
		}
		for ended := false; ; {
			var got []lease.Lease
			e.must(func(tx *db.Tx) (err error) {
				got, err = lease.Claim(ctx, tx, "lane", "driver", 1, life)
				return err
			})
			if len(got) == 0 {
				if ended {
					break
				}
				select {
				case <-over:
					ended = true // one look more
				default:
				}
				continue
			}
			for done := false; !done; {
				e.must(func(tx *db.Tx) error { return lease.Drop(ctx, tx, "letter", "lane") })
				e.must(func(tx *db.Tx) error {
					if err := lease.Beat(ctx, tx, got[0].Ref(), 0, life); err != nil {
						return err
					}
					if done = waiting(tx) == 0; !done {
						return nil
					}
					return lease.Finish(ctx, tx, got[0].Ref())
				})
			}
		}
		e.must(func(tx *db.Tx) error {
			if n := waiting(tx); n != 0 {
				t.Error("something waits, and nobody will come for it")
			}
			return nil
		})
	})
}
