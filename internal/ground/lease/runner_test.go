package lease_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/lease"
	"svc.example/internal/test/await"
	"svc.example/internal/test/dbtest"
)

func TestRunnerRetriesAFailedItem(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, e engine) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := make(chan int64, 8)
		runner := lease.Runner{
			DB: e.DB, Queue: lease.Queue{Name: "frame", Life: life}, Holder: "runner", Parallel: 2, Log: slog.New(slog.DiscardHandler),
			Work: func(ctx context.Context, l lease.Lease) error {
				if l.Attempt == 1 {
					return errors.New("first try fails")
				}
				if err := e.Write(ctx, func(tx *db.Tx) error { return lease.Finish(ctx, tx, l.Ref()) }); err != nil {
					return err
				}
				done <- l.Item // no more than are added
				return nil
			},
		}
		var wg sync.WaitGroup
		wg.Go(func() { runner.Run(ctx) })
		e.add("JOB-1", 3)
		for range 3 {
			await.Next(t, done, "work to be done")
		}
		cancel()
		wg.Wait()
	})
}

// TestAReportOfAnEarlierClaimIsLostAfterADrop drops work that a runner has in hand
// and adds it again: the same runner's second claim has the same attempt number.
func TestAReportOfAnEarlierClaimIsLostAfterADrop(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, e engine) {
		ctx, cancel := context.WithCancel(t.Context())
		claims, over := make(chan lease.Lease), make(chan struct{})
		runner := lease.Runner{
			DB: e.DB, Queue: lease.Queue{Name: "frame", Life: life}, Holder: "runner", Parallel: 2, Log: slog.New(slog.DiscardHandler),
			Work: func(_ context.Context, l lease.Lease) error {
				select {
				case claims <- l:
					<-over
				case <-over:
				}
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
			return await.Next(t, claims, "a claim")
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

// TestAnItemAddedWhileItIsFinishedIsNotLost has a holder look for more and
// finish, just while another transaction has written more and not yet committed
// it.
func TestAnItemAddedWhileItIsFinishedIsNotLost(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		if !strings.HasPrefix(url, "postgres") {
			return // the one writer of SQLite has all of it
		}
		e := engine{dbtest.Open(t, db.Config{URL: url}), t, nil}
		bare, err := sql.Open("pgx", url)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = bare.Close() }()
		ctx := t.Context()
		more := func(tx *db.Tx) error {
			if err := lease.Add(ctx, tx, "letter", "lane", 0, time.Time{}); err != nil {
				return err
			}
			return lease.AddOrAdvance(ctx, tx, "frame", "lane", 0, tx.Time())
		}
		e.must(func(tx *db.Tx) error { return lease.Add(ctx, tx, "frame", "lane", 0, time.Time{}) })
		held := e.claim("driver", 1)[0]
		ended := make(chan error, 1)
		finish := func(tx *db.Tx) error {
			if err := lease.Beat(ctx, tx, held.Ref(), 0, life); err != nil {
				return err
			}
			if n, err := lease.CountDue(ctx, tx, "letter", 1); n != 0 || err != nil {
				return err // it continues
			}
			return lease.Finish(ctx, tx, held.Ref())
		}
		e.must(func(tx *db.Tx) error {
			if err := more(tx); err != nil {
				return err
			}
			go func() { ended <- e.Write(ctx, finish) }()
			for blocked := 0; blocked == 0 && len(ended) == 0; {
				const waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
				if err := bare.QueryRowContext(ctx, waiting).Scan(&blocked); err != nil {
					return err
				}
			}
			return nil
		})
		if err := await.Next(t, ended, "the holder's end"); err != nil {
			t.Fatal(err)
		}
		e.must(func(tx *db.Tx) error {
			_, err := tx.LeaseGet(ctx, held.ID)
			if db.IsNotFound(err) {
				t.Error("more waits, and no run will take it")
				return nil
			}
			return err
		})
	})
}

func TestWorkThatNeverSucceedsBecomesADeadLetter(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, e engine) {
		ctx, cancel := context.WithCancel(t.Context())
		tries := make(chan int64, 9)
		runner := lease.Runner{
			DB: e.DB, Queue: lease.Queue{Name: "frame", Life: life, MaxFailures: 2}, Holder: "runner", Log: slog.New(slog.DiscardHandler),
			Work: func(_ context.Context, l lease.Lease) error {
				tries <- l.Attempt
				return errors.New("the address does not exist")
			},
		}
		e.add("JOB-1", 1)
		failed, stop := e.Listen(lease.Topic("frame"))
		defer stop()
		var wg sync.WaitGroup
		wg.Go(func() { runner.Run(ctx) })
		for range 2 {
			await.Next(t, tries, "a try")
		}
		dead := e.dead()
		for ; len(dead) == 0; dead = e.dead() {
			await.Next(t, failed, "a dead letter")
		}
		cancel()
		wg.Wait()
		if len(tries) != 0 || dead[0].Reason != "the address does not exist" || dead[0].Failures != 2 {
			t.Errorf("%d more tries, %+v", len(tries), dead)
		}
	})
}

// A full disk is not the work's fault: it waits, and does not count as a
// failure.
func TestAFullDiskIsNoFailureOfTheWork(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, e engine) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := make(chan lease.Lease, 1)
		runner := lease.Runner{
			DB: e.DB, Queue: lease.Queue{Name: "frame", Life: life, MaxFailures: 1}, Holder: "runner", Log: slog.New(slog.DiscardHandler),
			Work: func(ctx context.Context, l lease.Lease) error {
				if l.Attempt == 1 {
					return fmt.Errorf("pack JOB-1: %w", &fs.PathError{Op: "write", Path: "blob-1", Err: syscall.ENOSPC})
				}
				done <- l
				return e.Write(ctx, func(tx *db.Tx) error { return lease.Finish(ctx, tx, l.Ref()) })
			},
		}
		e.add("JOB-1", 1)
		changed, stop := e.Listen(lease.Topic("frame"))
		defer stop()
		var wg sync.WaitGroup
		wg.Go(func() { runner.Run(ctx) })
		await.Next(t, changed, "the work to wait again")
		if dead := e.dead(); len(dead) != 0 {
			t.Errorf("it became a dead letter: %+v", dead)
		}
		e.pass(time.Minute)
		if l := await.Next(t, done, "the second attempt"); l.Failures != 0 {
			t.Errorf("it failed %d times", l.Failures)
		}
		cancel()
		wg.Wait()
	})
}
