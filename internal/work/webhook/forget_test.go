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

// endJobs ends count jobs of the workspace at once.
func (s *service) endJobs(count int) {
	s.t.Helper()
	s.write(func(ctx context.Context, tx *db.Tx) error {
		for range count {
			if err := webhook.Publish(ctx, tx, webhook.Event{WorkspaceID: s.workspace, JobID: id.New(id.Job), Type: contract.EventFailed}); err != nil {
				return err
			}
		}
		return nil
	})
}

// forget sweeps and wants so many events to be forgotten.
func (s *service) forget(want int64) {
	s.t.Helper()
	if n, err := s.Forget(context.Background()); err != nil || n != want {
		s.t.Errorf("%d events were forgotten, %v; want %d", n, err, want)
	}
}

// sealed is how many secrets the store has.
func (s *service) sealed() (n int) {
	s.t.Helper()
	s.write(func(ctx context.Context, tx *db.Tx) error {
		rows, err := tx.WebhookSecretAfter(ctx, "")
		n = len(rows)
		return err
	})
	return n
}

// TestForgetDeletesOnlyOldEventsAndAuditsClean keeps what is young, or waits, or was
// sent again of late, and removes the rest with the job's own target's secret.
func TestForgetDeletesOnlyOldEventsAndAuditsClean(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		var works atomic.Bool
		works.Store(true)
		r := s.receiver(func(rw http.ResponseWriter, _ *http.Request) {
			if !works.Load() {
				rw.WriteHeader(http.StatusGone)
			}
		})
		stop := s.run()
		old := s.endJobWithTarget(r.URL+"/?token=secret", "")
		s.write(func(ctx context.Context, tx *db.Tx) error { return s.job(ctx, tx, old, "completed") })
		s.await(old, isNow(webhook.Delivered))
		works.Store(false)
		again := s.endJobWithTarget(r.URL, "")
		ended := s.await(again, isNow(webhook.Failed))
		works.Store(true)
		stop()
		waits := s.endJobWithTarget(r.URL, "")
		s.forget(0)
		s.later.Add(int64(contract.WebhookRetention - time.Hour))
		stop = s.run() // what waited is delivered, and fresh
		s.await(waits, isNow(webhook.Delivered))
		stop()
		if _, err := s.Redeliver(t.Context(), s.workspace, again, ended.DeliveryID); err != nil {
			t.Fatal(err)
		}
		s.later.Add(int64(2 * time.Hour))
		s.forget(1)
		if all, err := s.OfJob(t.Context(), old); err != nil || len(all) != 0 {
			t.Errorf("of the old one %+v is left, %v", all, err)
		}
		if n := s.sealed(); n != 2 {
			t.Errorf("%d secrets are left, want those of two targets", n)
		}
		s.audit()
		s.run()
		s.await(again, isNow(webhook.Delivered)) // its body was kept
		s.later.Add(int64(contract.WebhookRetention + time.Hour))
		s.forget(2)
		s.forget(0)
		if n := s.sealed(); n != 0 {
			t.Errorf("%d secrets are left", n)
		}
		if _, err := s.Redeliver(t.Context(), s.workspace, again, ended.DeliveryID); !fault.Is(err, fault.DeliveryNotFound) {
			t.Errorf("a forgotten delivery, again: %v", err)
		}
		s.audit()
	})
}

// TestAuditDistinguishesLostFromForgottenEvents removes the row that forgetting
// leaves.
func TestAuditDistinguishesLostFromForgottenEvents(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		jobID := s.endJob()
		s.write(func(ctx context.Context, tx *db.Tx) error { return s.job(ctx, tx, jobID, "failed") })
		s.later.Add(int64(contract.WebhookRetention + time.Hour))
		s.forget(1)
		s.audit()
		s.raw("DELETE FROM webhook_event")
		if found := s.breaches(); len(found) != 1 || found[0].Subject != jobID || found[0].Rule != "a job that has ended has one event" {
			t.Errorf("the breaches are %+v", found)
		}
	})
}

func TestForgetDeletesPageByPage(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		s.endJobs(250)
		e, _ := s.endpoint("https://127.0.0.1:1024/", "")
		if _, err := s.Test(t.Context(), s.workspace, e.EndpointID); err != nil { // one that waits among them
			t.Fatal(err)
		}
		s.endJobs(30) // these wait too
		s.later.Add(int64(contract.WebhookRetention + time.Hour))
		s.forget(250)
		if err := s.Delete(t.Context(), s.workspace, e.EndpointID); err != nil { // ends them
			t.Fatal(err)
		}
		s.forget(0)
		s.later.Add(int64(contract.WebhookRetention + time.Hour))
		s.forget(31)
		for table, want := range map[string]int{"webhook_event": 280, "webhook_delivery": 0, "webhook_attempt": 0, "webhook_endpoint": 0, "webhook_secret": 0} {
			if n := s.count(table); n != want {
				t.Errorf("%s has %d rows, want %d", table, n, want)
			}
		}
	})
}

func TestRotatedSecretIsRemovedOnceItSignsNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		e, _ := s.endpoint("https://127.0.0.1:1024/", "")
		if _, _, err := s.Rotate(t.Context(), s.workspace, e.EndpointID, ""); err != nil {
			t.Fatal(err)
		}
		s.forget(0)
		if n := s.sealed(); n != 2 {
			t.Errorf("in the overlap %d secrets", n)
		}
		s.later.Add(int64(contract.WebhookSecretOverlap + time.Second))
		s.forget(0)
		if n := s.sealed(); n != 1 {
			t.Errorf("after it %d secrets", n)
		}
		s.audit()
	})
}

// TestMissedEventsAreRedeliveredPageByPage has more events than one transaction
// goes through, breaks off after the first page, and asks again.
func TestMissedEventsAreRedeliveredPageByPage(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		const missed = 1201
		s.endJobs(1)
		early := s.now()
		s.later.Add(int64(time.Second))
		s.endJobs(missed)
		e, _ := s.endpoint("https://127.0.0.1:1024/", "")
		s.endJob() // this one arrives automatically
		ctx, stop := context.WithCancel(t.Context())
		stopAt := s.commits.Load() + 1
		s.afterCommit.Store(new(func(n int64) {
			if n == stopAt {
				stop()
			}
		}))
		if _, err := s.RedeliverSince(ctx, s.workspace, e.EndpointID, early.Add(time.Microsecond)); err == nil {
			t.Error("it did not break off")
		}
		s.afterCommit.Store(nil)
		if n := s.count("webhook_delivery"); n != 501 {
			t.Errorf("after one page there are %d deliveries", n)
		}
		if n, err := s.RedeliverSince(t.Context(), s.workspace, e.EndpointID, early.Add(time.Microsecond)); err != nil || n != missed+1 {
			t.Errorf("%d were sent again, %v; want %d", n, err, missed+1)
		}
		if n := s.count("webhook_delivery"); n != missed+1 {
			t.Errorf("there are %d deliveries, want one an event", n)
		}
		s.audit()
	})
}
