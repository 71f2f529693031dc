package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/lease"
	"svc.example/internal/test/await"
	"svc.example/internal/test/long"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/webhook"
)

// awaitBlocked waits until a session waits for a lock of the database, which is
// PostgreSQL.
func (s *service) awaitBlocked() {
	s.t.Helper()
	bare := s.bare()
	await.Until(s.t, "a session to wait for a lock", func() bool {
		var n int
		if err := bare.QueryRow("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'").Scan(&n); err != nil {
			s.t.Error(err)
			return true
		}
		return n > 0
	})
}

// TestJobEndAndFailedCallNeverDeadlock has both meet at one endpoint, each
// with the first of its locks: a deadlock costs a second, and the job's whole end
// is done again.
func TestJobEndAndFailedCallNeverDeadlock(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		if s.DB.Engine() == "sqlite" {
			return // its one writer has all of it
		}
		e, _ := s.endpoint("https://127.0.0.1:1024/", "")
		s.endJob() // so that its delivery queue is there
		var ends, calls atomic.Int64
		ended := make(chan error, 1)
		tell := func(tx *db.Tx) error {
			ends.Add(1)
			return webhook.Publish(context.Background(), tx, webhook.Event{WorkspaceID: s.workspace, JobID: id.New(id.Job), Type: contract.EventFailed})
		}
		s.write(func(ctx context.Context, tx *db.Tx) error {
			row, err := tx.WebhookEndpointGet(ctx, e.EndpointID)
			if err == nil {
				err = lease.Lock(ctx, tx, webhook.Queue, row.Lane, 0)
			}
			if calls.Add(1) == 1 {
				go func() { ended <- s.DB.Write(context.Background(), tell) }()
				s.awaitBlocked()
			}
			if err == nil {
				_, err = tx.WebhookEndpointLock(ctx, e.EndpointID)
			}
			return err
		})
		if err := await.Next(t, ended, "the end of the job"); err != nil {
			t.Error(err)
		}
		if ends.Load() != 1 || calls.Load() != 1 {
			t.Errorf("the end was written %d times, the call %d times", ends.Load(), calls.Load())
		}
	})
}

// TestGoneEndpointIsNotCalledAgain has many deliveries wait for one that
// answers 410: beyond the calls that were open, none is made.
func TestGoneEndpointIsNotCalledAgain(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		r := s.receiver(answering(410))
		e, _ := s.endpoint(r.URL, "")
		s.endJobs(40)
		stop := s.run()
		s.awaitDisabled(e.EndpointID)
		stop()
		if n := len(r.hits); n > 8 {
			t.Errorf("it was called %d times", n)
		}
		s.audit()
	})
}

// TestStoppingWaitsForNoCallTwice stops the drivers of many delivery queues just when their
// calls end.
func TestStoppingWaitsForNoCallTwice(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		const queues = 40
		var answer atomic.Pointer[chan struct{}]
		r := s.receiver(func(_ http.ResponseWriter, q *http.Request) { hold(q, *answer.Load()) })
		for round := range long.Scale(3, 10) {
			answer.Store(new(make(chan struct{})))
			for n := range queues {
				s.endJobWithTarget(fmt.Sprintf("%s/%d", r.URL, n), freeText)
			}
			stop := s.run()
			for range queues {
				r.next(t)
			}
			began := make(chan struct{})
			begin := sync.OnceFunc(func() { close(began) })
			first := s.commits.Load() + int64(1+round)
			s.afterCommit.Store(new(func(n int64) {
				if n >= first { // some have written what became of their calls
					begin()
				}
			}))
			close(*answer.Load())
			await.Next(t, began, "the commit of an answer")
			s.afterCommit.Store(nil)
			stopped := make(chan struct{})
			go func() { defer close(stopped); stop() }()
			await.Next(t, stopped, "the end of the drivers")
			for len(r.hits) > 0 { // a delivery queue has as many calls open as were cut before
				<-r.hits
			}
		}
	})
}

// TestWorkspaceDrivesAtMostItsShareOfDeliveryQueues holds the calls of more delivery queues than a
// workspace may have driven: another workspace's are made, and in the end all.
func TestWorkspaceDrivesAtMostItsShareOfDeliveryQueues(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		const share, queues = 64, 80
		release := make(chan struct{})
		slow := s.receiver(func(_ http.ResponseWriter, q *http.Request) { hold(q, release) })
		jobs := make([]string, queues)
		for n := range queues {
			jobs[n] = s.endJobWithTarget(fmt.Sprintf("%s/%d", slow.URL, n), freeText)
		}
		s.run()
		for range share {
			slow.next(t)
		}
		good, first := s.receiver(nil), s.workspace
		s.write(func(ctx context.Context, tx *db.Tx) error {
			p, err := identity.CreateWorkspace(ctx, tx, "other@example.com")
			s.workspace = p.WorkspaceID
			return err
		})
		for n := range 10 {
			s.await(s.endJobWithTarget(fmt.Sprintf("%s/%d", good.URL, n), freeText), isNow(webhook.Delivered))
		}
		if n := len(slow.hits); n != 0 {
			t.Errorf("it has %d delivery queues beyond its share", n)
		}
		close(release)
		s.workspace = first
		for _, jobID := range jobs {
			s.await(jobID, isNow(webhook.Delivered))
		}
		s.audit()
	})
}

// TestLaneMovesToAnotherProcess silences the first one while its call is open:
// the second calls again with the same id, and what the first one learns too late
// is written nowhere.
func TestLaneMovesToAnotherProcess(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		calls := make(chan chan int) // each receives the status to answer
		r := s.receiver(func(rw http.ResponseWriter, q *http.Request) {
			answer := make(chan int, 1)
			select {
			case calls <- answer:
				if status := hold(q, answer); status != 0 {
					rw.WriteHeader(status)
				}
			case <-q.Context().Done():
			}
		})
		left := make(chan error, 1)
		s.runWith(1, func(ctx context.Context, l lease.Lease) error {
			err := s.Drive(ctx, l)
			select {
			case left <- err:
			default: // only the first is asked for
			}
			return err
		})
		jobID := s.endJobWithTarget(r.URL, freeText)
		first, answerFirst := r.next(t), await.Next(t, calls, "the call")
		s.later.Add(int64(21 * time.Second))
		reaper := lease.Reaper{DB: s.DB, Queues: []lease.Queue{{Name: webhook.Queue, Life: s.LeaseLife}}, Log: s.Log}
		if n, err := reaper.Run(t.Context()); n != 1 || err != nil {
			t.Fatalf("%d leases have lapsed: %v", n, err)
		}
		s.run()
		second, answerSecond := r.next(t), await.Next(t, calls, "the call again")
		if first.id != second.id {
			t.Errorf("the ids are %s and %s", first.id, second.id)
		}
		answerFirst <- http.StatusInternalServerError
		if err := await.Next(t, left, "the end of the first process"); !errors.Is(err, lease.ErrLost) {
			t.Errorf("the first process ends with %v", err)
		}
		answerSecond <- http.StatusOK
		d := s.await(jobID, isNow(webhook.Delivered))
		if len(d.Attempts) != 1 || *d.Attempts[0].Status != http.StatusOK {
			t.Errorf("the log is %+v", d.Attempts)
		}
		s.audit()
	})
}
