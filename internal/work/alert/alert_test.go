package alert_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/alert"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/wallet"
)

// world is a workspace with money, and a clock that the test moves.
type world struct {
	*testing.T
	*db.DB
	url       string
	skew      atomic.Int64
	workspace string
	jobs      int
}

func each(t *testing.T, test func(w *world)) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		w := &world{T: t, url: url}
		w.DB = dbtest.Open(t, db.Config{URL: url, Skew: func() time.Duration { return time.Duration(w.skew.Load()) }})
		w.must(func(ctx context.Context, tx *db.Tx) error {
			person, err := identity.CreateWorkspace(ctx, tx, "someone@example.com")
			w.workspace = person.WorkspaceID
			return errors.Join(err, wallet.Credit(ctx, tx, w.workspace, "first", 1000))
		})
		test(w)
	})
}

func (w *world) must(do func(ctx context.Context, tx *db.Tx) error) {
	w.Helper()
	if err := w.Write(w.Context(), func(tx *db.Tx) error { return do(w.Context(), tx) }); err != nil {
		w.Fatal(err)
	}
}

// spend reserves cents for a job, as its start does. It returns the job.
func (w *world) spend(cents int64) (jobID string) {
	w.Helper()
	w.jobs++
	jobID = fmt.Sprint("JOB-", w.jobs)
	w.must(func(ctx context.Context, tx *db.Tx) error {
		if err := wallet.Reserve(ctx, tx, w.workspace, jobID, cents); err != nil {
			return err
		}
		has, err := wallet.Get(ctx, tx, w.workspace)
		if err != nil {
			return err
		}
		return alert.Spent(ctx, tx, w.workspace, has, cents)
	})
	return jobID
}

// told wants so many events so far.
func (w *world) told(times int) {
	w.Helper()
	var n int
	if err := dbtest.Raw(w.T, w.url).QueryRow("SELECT count(*) FROM webhook_event WHERE type = 'wallet.low'").Scan(&n); err != nil {
		w.Fatal(err)
	}
	if n != times {
		w.Fatalf("it was sent %d times, want %d", n, times)
	}
}

func TestAWalletThatRunsLowIsToldOnceAndToWhoAsked(t *testing.T) {
	each(t, func(w *world) {
		set := func(cents int64) {
			w.Helper()
			w.must(func(ctx context.Context, tx *db.Tx) error { return alert.Set(ctx, tx, w.workspace, cents) })
		}
		w.spend(100) // 900: not requested
		w.told(0)
		set(500)
		w.spend(400) // 500 is not below
		w.told(0)
		last := w.spend(1)
		w.told(1)
		w.spend(100) // it is below already
		w.told(1)
		// A job that fails gives its money back; that the next one takes it again is no news.
		w.must(func(ctx context.Context, tx *db.Tx) error {
			return errors.Join(wallet.Release(ctx, tx, w.workspace, last, 1), wallet.Credit(ctx, tx, w.workspace, "second", 200))
		})
		w.spend(200)
		w.told(1)
		w.must(func(ctx context.Context, tx *db.Tx) error { return wallet.Credit(ctx, tx, w.workspace, "third", 500) })
		w.skew.Add(int64(alert.Pause))
		w.spend(500)
		w.told(2)
		set(0)
		w.must(func(ctx context.Context, tx *db.Tx) error { return wallet.Credit(ctx, tx, w.workspace, "fourth", 500) })
		w.skew.Add(int64(alert.Pause))
		w.spend(500)
		w.told(2)
		for _, cents := range []int64{-1, wallet.MaxCents + 1} {
			if err := w.Write(w.Context(), func(tx *db.Tx) error { return alert.Set(w.Context(), tx, w.workspace, cents) }); !fault.Is(err, fault.InvalidRequest) {
				w.Errorf("%d cents: %v", cents, err)
			}
		}
	})
}

func TestThePeopleOfALowWalletGetAMailUnlessItWasFilled(t *testing.T) {
	each(t, func(w *world) {
		var sent []string
		n := alert.Notices{DB: w.DB, Page: "https://svc.example/console/wallet", Log: slog.New(slog.DiscardHandler), Send: func(_ context.Context, to, _, text string) error {
			sent = append(sent, to+"\n"+text)
			return nil
		}}
		notify := func() {
			w.Helper()
			var held []lease.Lease
			w.must(func(ctx context.Context, tx *db.Tx) (err error) {
				held, err = lease.Claim(ctx, tx, alert.NoticeQueue, "test", 10, time.Minute)
				return err
			})
			if len(held) != 1 {
				w.Fatalf("%d mails wait", len(held))
			}
			if err := n.Notify(w.Context(), held[0]); err != nil {
				w.Fatal(err)
			}
		}
		w.must(func(ctx context.Context, tx *db.Tx) error { return alert.Set(ctx, tx, w.workspace, 500) })
		w.spend(800)
		notify()
		if len(sent) != 1 || !strings.HasPrefix(sent[0], "someone@example.com\n") || !strings.Contains(sent[0], "has $2.00 left") || !strings.Contains(sent[0], "below $5.00") || !strings.Contains(sent[0], n.Page) {
			w.Errorf("sent %q", sent)
		}
		w.must(func(ctx context.Context, tx *db.Tx) error { return wallet.Credit(ctx, tx, w.workspace, "second", 500) })
		w.skew.Add(int64(alert.Pause))
		w.spend(300)
		w.must(func(ctx context.Context, tx *db.Tx) error { return wallet.Credit(ctx, tx, w.workspace, "third", 500) })
		notify()
		n.Send = nil
		w.skew.Add(int64(alert.Pause))
		w.spend(500)
		notify()
		if len(sent) != 1 {
			w.Errorf("sent %q", sent)
		}
	})
}

func TestTheAuditSeesEveryChangeOfAnAlert(t *testing.T) {
	each(t, func(w *world) {
		w.must(func(ctx context.Context, tx *db.Tx) error { return alert.Set(ctx, tx, w.workspace, 500) })
		w.spend(800)
		unseen := dbtest.Unseen(w.T, w.url, func(tx *db.Tx) (breaches int, err error) {
			err = alert.Audit(context.Background(), tx, func(string, string, string, ...any) { breaches++ })
			return breaches, err
		}, "wallet_alert")
		if len(unseen) > 0 {
			w.Errorf("it does not see %v", unseen)
		}
	})
}
