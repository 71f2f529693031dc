package webhook_test

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/work/webhook"
)

// tellMany ends so many jobs of the workspace at once.
func (w *world) tellMany(count int) {
	w.t.Helper()
	w.write(func(ctx context.Context, tx *db.Tx) error {
		for range count {
			if err := webhook.Tell(ctx, tx, webhook.Event{WorkspaceID: w.workspace, JobID: id.New(id.Job), Type: contract.EventFailed}); err != nil {
				return err
			}
		}
		return nil
	})
}

// forget sweeps and wants so many events to be forgotten.
func (w *world) forget(want int64) {
	w.t.Helper()
	if n, err := w.Forget(context.Background()); err != nil || n != want {
		w.t.Errorf("%d events were forgotten, %v; want %d", n, err, want)
	}
}

// sealed is how many secrets the store has.
func (w *world) sealed() (n int) {
	w.t.Helper()
	w.write(func(ctx context.Context, tx *db.Tx) error {
		rows, err := tx.AuditWebhookSecrets(ctx, "")
		n = len(rows)
		return err
	})
	return n
}

// TestWhatIsOverIsForgottenAndAuditsClean keeps what is young, or waits, or was
// sent again of late, and removes the rest with the job's own target's secret.
func TestWhatIsOverIsForgottenAndAuditsClean(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		var works atomic.Bool
		works.Store(true)
		r := w.receiver(func(rw http.ResponseWriter, _ *http.Request) {
			if !works.Load() {
				rw.WriteHeader(http.StatusGone)
			}
		})
		stop := w.run()
		old := w.tellTarget(r.URL+"/?token=secret", "")
		w.write(func(ctx context.Context, tx *db.Tx) error { return w.job(ctx, tx, old, "completed") })
		w.await(old, isNow(webhook.Delivered))
		works.Store(false)
		again := w.tellTarget(r.URL, "")
		ended := w.await(again, isNow(webhook.Failed))
		works.Store(true)
		stop()
		waits := w.tellTarget(r.URL, "")
		w.forget(0)
		w.later.Add(int64(contract.WebhookRetention - time.Hour))
		stop = w.run() // what waited is delivered, and fresh
		w.await(waits, isNow(webhook.Delivered))
		stop()
		if _, err := w.Redeliver(t.Context(), w.workspace, again, ended.DeliveryID); err != nil {
			t.Fatal(err)
		}
		w.later.Add(int64(2 * time.Hour))
		w.forget(1)
		if all, err := w.OfJob(t.Context(), old); err != nil || len(all) != 0 {
			t.Errorf("of the old one %+v is left, %v", all, err)
		}
		if n := w.sealed(); n != 2 {
			t.Errorf("%d secrets are left, want those of two targets", n)
		}
		w.audit()
		w.run()
		w.await(again, isNow(webhook.Delivered)) // its body was kept
		w.later.Add(int64(contract.WebhookRetention + time.Hour))
		w.forget(2)
		w.forget(0)
		if n := w.sealed(); n != 0 {
			t.Errorf("%d secrets are left", n)
		}
		if _, err := w.Redeliver(t.Context(), w.workspace, again, ended.DeliveryID); !fault.Is(err, fault.DeliveryNotFound) {
			t.Errorf("a forgotten delivery, again: %v", err)
		}
		w.audit()
	})
}

// TestTheAuditTellsALostEventFromAForgottenOne removes the row that forgetting
// leaves.
func TestTheAuditTellsALostEventFromAForgottenOne(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		jobID := w.tell()
		w.write(func(ctx context.Context, tx *db.Tx) error { return w.job(ctx, tx, jobID, "failed") })
		w.later.Add(int64(contract.WebhookRetention + time.Hour))
		w.forget(1)
		w.audit()
		w.raw("DELETE FROM webhook_event")
		if found := w.breaches(); len(found) != 1 || found[0].Thing != jobID || found[0].Rule != "a job that has ended has one event" {
			t.Errorf("the breaches are %+v", found)
		}
	})
}

func TestForgettingGoesPageByPage(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.tellMany(250)
		e, _ := w.endpoint("https://127.0.0.1:1024/", "")
		if _, err := w.Test(t.Context(), w.workspace, e.EndpointID); err != nil { // one that waits among them
			t.Fatal(err)
		}
		w.tellMany(30) // these wait too
		w.later.Add(int64(contract.WebhookRetention + time.Hour))
		w.forget(250)
		if err := w.Delete(t.Context(), w.workspace, e.EndpointID); err != nil { // ends them
			t.Fatal(err)
		}
		w.forget(0)
		w.later.Add(int64(contract.WebhookRetention + time.Hour))
		w.forget(31)
		for table, want := range map[string]int{"webhook_event": 280, "webhook_delivery": 0, "webhook_attempt": 0, "webhook_endpoint": 0, "webhook_secret": 0} {
			if n := w.count(table); n != want {
				t.Errorf("%s has %d rows, want %d", table, n, want)
			}
		}
	})
}

func TestARotatedSecretIsRemovedOnceItSignsNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		e, _ := w.endpoint("https://127.0.0.1:1024/", "")
		if _, _, err := w.Rotate(t.Context(), w.workspace, e.EndpointID, ""); err != nil {
			t.Fatal(err)
		}
		w.forget(0)
		if n := w.sealed(); n != 2 {
			t.Errorf("in the overlap %d secrets", n)
		}
		w.later.Add(int64(contract.WebhookSecretOverlap + time.Second))
		w.forget(0)
		if n := w.sealed(); n != 1 {
			t.Errorf("behind it %d secrets", n)
		}
		w.audit()
	})
}

// TestWhatWasMissedIsSentAgainPageByPage has more events than one transaction
// goes through, breaks off behind the first page, and asks again.
func TestWhatWasMissedIsSentAgainPageByPage(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		const missed = 1201
		w.tellMany(1)
		early := w.now()
		w.later.Add(int64(time.Second))
		w.tellMany(missed)
		e, _ := w.endpoint("https://127.0.0.1:1024/", "")
		w.tell() // it hears of this one by itself
		ctx, stop := context.WithCancel(t.Context())
		stopAt := w.commits.Load() + 1
		w.afterCommit.Store(new(func(n int64) {
			if n == stopAt {
				stop()
			}
		}))
		if _, err := w.RedeliverSince(ctx, w.workspace, e.EndpointID, early.Add(time.Microsecond)); err == nil {
			t.Error("it did not break off")
		}
		w.afterCommit.Store(nil)
		if n := w.count("webhook_delivery"); n != 501 {
			t.Errorf("behind one page there are %d deliveries", n)
		}
		if n, err := w.RedeliverSince(t.Context(), w.workspace, e.EndpointID, early.Add(time.Microsecond)); err != nil || n != missed+1 {
			t.Errorf("%d were sent again, %v; want %d", n, err, missed+1)
		}
		if n := w.count("webhook_delivery"); n != missed+1 {
			t.Errorf("there are %d deliveries, want one an event", n)
		}
		w.audit()
	})
}
