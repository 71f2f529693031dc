package lease_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
)

// frames is a queue whose items are dead letters after three failures.
var frames = lease.Queue{Name: "frame", Life: life, LongestPause: 4 * time.Second, LongestDelay: time.Minute, MaxFailures: 3}

// reap ends the lapsed leases of queues and returns their number.
func (e engine) reap(queues ...lease.Queue) int {
	e.t.Helper()
	n, err := lease.Reaper{DB: e.DB, Queues: queues, Log: slog.New(slog.DiscardHandler)}.Run(context.Background())
	if err != nil {
		e.t.Fatal(err)
	}
	return n
}

func (e engine) fail(q lease.Queue, l lease.Lease) (dead bool) {
	e.t.Helper()
	e.must(func(tx *db.Tx) (err error) {
		dead, err = q.Fail(e.t.Context(), tx, l, "code", "reason")
		return err
	})
	return dead
}

func (e engine) dead() (dead []lease.DeadLetter) {
	e.t.Helper()
	e.must(func(tx *db.Tx) (err error) {
		dead, err = lease.DeadLetters(e.t.Context(), tx, "", 100)
		return err
	})
	return dead
}

func TestHeartbeatKeepsAndSilenceLapses(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, e engine) {
		e.add("JOB-1", 1)
		l := e.claim("a", 1)[0]
		e.pass(life - time.Second)
		e.must(func(tx *db.Tx) error { return lease.Beat(t.Context(), tx, l.Ref(), 0.25, life) })
		e.pass(life - time.Second)
		if n := e.reap(frames); n != 0 {
			t.Fatalf("%d lapsed in spite of a heartbeat", n)
		}
		e.pass(2 * time.Second)
		if n := e.reap(frames); n != 1 {
			t.Fatalf("%d lapsed", n)
		}
		if got := e.claim("b", 1); len(got) != 0 {
			t.Fatalf("a lapse is a failure and has its pause: %+v", got)
		}
		e.pass(time.Second)
		again := e.claim("b", 1)
		if len(again) != 1 || again[0].Attempt != 2 || again[0].Failures != 1 || again[0].Code != lease.Lapsed {
			t.Fatalf("got %+v", again)
		}
	})
}

func TestALapseCallsItsQueuesOnLapse(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, e engine) {
		ctx := t.Context()
		e.add("JOB-1", 2)
		e.must(func(tx *db.Tx) error { return lease.Add(ctx, tx, "other", "JOB-1", 0, time.Time{}) })
		e.claim("a", 2)
		e.must(func(tx *db.Tx) error {
			_, err := lease.Claim(ctx, tx, "other", "a", 1, life)
			return err
		})
		e.pass(life + time.Second)
		broken := errors.New("no")
		answering := frames
		answering.OnLapse = func(ctx context.Context, tx *db.Tx, l lease.Lease, _ bool) error {
			if l.Item == 1 {
				return broken
			}
			return lease.Finish(ctx, tx, l.Ref())
		}
		n, err := lease.Reaper{DB: e.DB, Queues: []lease.Queue{answering, {Name: "other", Life: life}}, Log: slog.New(slog.DiscardHandler)}.Run(ctx)
		if n != 3 || !errors.Is(err, broken) {
			t.Fatalf("%d lapsed, error %v", n, err)
		}
		e.must(func(tx *db.Tx) error {
			if _, err := tx.LeaseGet(ctx, lease.ID("frame", "JOB-1", 2)); !db.IsNotFound(err) {
				t.Errorf("the second is not finished: %v", err)
			}
			other, err := tx.LeaseGet(ctx, lease.ID("other", "JOB-1", 0))
			if other.Failures != 1 {
				t.Errorf("the other queue's piece was not taken back: %+v", other)
			}
			return err
		})
	})
}

func TestThePauseDoublesUpToTheQueuesLongest(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, e engine) {
		e.add("JOB-1", 1)
		patient := frames
		patient.MaxFailures = 0
		for _, want := range []time.Duration{1, 2, 4, 4, 4} {
			if e.fail(patient, e.claim("a", 1)[0]) {
				t.Fatal("a queue that never gives up left a dead letter")
			}
			e.pass(want*time.Second - 500*time.Millisecond)
			if len(e.claim("a", 1)) != 0 {
				t.Fatalf("due before its pause of %d s", want)
			}
			e.pass(500 * time.Millisecond)
		}
	})
}

func TestWorkThatFailsTooOftenIsADeadLetterUntilItIsRequeued(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, e engine) {
		ctx := t.Context()
		e.add("JOB-1", 2)
		var last lease.Lease
		for try := range 3 {
			got := e.claim("a", 1)
			if len(got) != 1 || got[0].Item != 1 {
				t.Fatalf("try %d: got %+v", try, got)
			}
			if last = got[0]; e.fail(frames, last) != (try == 2) {
				t.Fatalf("try %d: dead %v", try, try != 2)
			}
			e.must(func(tx *db.Tx) error { // only the first piece is claimed
				_, err := lease.ClaimIDs(ctx, tx, []string{lease.ID("frame", "JOB-1", 2)}, "b", life)
				return err
			})
			e.pass(5 * time.Second)
		}
		if got := e.claim("a", 9); len(got) != 0 {
			t.Errorf("a dead letter was claimed: %+v", got)
		}
		dead := e.dead()
		if len(dead) != 1 || dead[0].ID != last.ID || dead[0].Failures != 3 || dead[0].Code != "code" || dead[0].Reason != "reason" || dead[0].DiedAt.IsZero() {
			t.Fatalf("got %+v", dead)
		}
		e.must(func(tx *db.Tx) error { return lease.Requeue(ctx, tx, last.ID) })
		got := e.claim("a", 9)
		if len(got) != 1 || got[0].ID != last.ID || got[0].Attempt != last.Attempt+1 || got[0].Failures != 0 {
			t.Errorf("got %+v", got)
		}
		if err := e.write(func(tx *db.Tx) error { return lease.Requeue(ctx, tx, last.ID) }); !fault.Is(err, fault.DeadLetterNotFound) {
			t.Errorf("requeued twice: %v", err)
		}
	})
}

func TestRequeueLeavesAnItemThatWasAddedAgain(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, e engine) {
		ctx := t.Context()
		hasty := frames
		hasty.MaxFailures = 1
		e.add("JOB-1", 1)
		first := e.claim("a", 1)[0]
		e.fail(hasty, first)
		e.add("JOB-1", 1)
		again := e.claim("b", 1)[0]
		e.must(func(tx *db.Tx) error { return lease.Requeue(ctx, tx, first.ID) })
		e.must(func(tx *db.Tx) error { return lease.Beat(ctx, tx, again.Ref(), 0, life) })
		e.fail(hasty, again)
		if dead := e.dead(); len(dead) != 1 {
			t.Errorf("got %+v", dead)
		}
	})
}

func TestRescheduledWorkHasNotFailed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, e engine) {
		e.add("JOB-1", 1)
		e.fail(frames, e.claim("a", 1)[0])
		e.pass(5 * time.Second)
		e.must(func(tx *db.Tx) error {
			return lease.Reschedule(t.Context(), tx, e.claimIn(tx, "a").Ref(), "frame", tx.Time().Add(time.Second))
		})
		e.pass(2 * time.Second)
		if got := e.claim("a", 1); len(got) != 1 || got[0].Failures != 0 {
			t.Errorf("got %+v", got)
		}
	})
}

// claimIn claims the one piece that is there.
func (e engine) claimIn(tx *db.Tx, holder string) lease.Lease {
	e.t.Helper()
	got, err := lease.Claim(e.t.Context(), tx, "frame", holder, 1, life)
	if err != nil || len(got) != 1 {
		e.t.Fatalf("claimed %+v, error %v", got, err)
	}
	return got[0]
}

func TestOldDeadLettersAreDeleted(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, e engine) {
		hasty := frames
		hasty.MaxFailures = 1
		for _, subject := range []string{"old", "young"} {
			e.pass(time.Hour)
			e.add(subject, 1)
			e.fail(hasty, e.claim("a", 1)[0])
		}
		n, err := lease.ForgetDead(t.Context(), e.DB, "frame", 30*time.Minute)
		if dead := e.dead(); n != 1 || err != nil || len(dead) != 1 || dead[0].Subject != "young" {
			t.Errorf("%d forgotten, error %v, left %+v", n, err, dead)
		}
	})
}

func TestAClockSetBackProlongsNoLease(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, e engine) {
		e.add("JOB-1", 2)
		e.pass(time.Hour)
		held := e.claim("a", 2)
		e.fail(frames, held[0])
		e.pass(-time.Hour)
		if n := e.reap(frames); n != 0 {
			t.Fatalf("%d lapsed", n)
		}
		if got := e.claim("b", 2); len(got) != 1 || got[0].Item != held[0].Item {
			t.Errorf("of work put off for a second, an hour ago to come: %+v", got)
		}
		e.pass(life + time.Second)
		if n := e.reap(frames); n != 2 {
			t.Errorf("%d leases lapsed, want those of both silent holders", n)
		}
	})
}

func TestASteadyClockChangesNoLease(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, e engine) {
		e.add("JOB-1", 1)
		e.claim("a", 1)
		e.pass(life - time.Second)
		if n := e.reap(frames); n != 0 {
			t.Errorf("%d lapsed", n)
		}
	})
}

func TestAQueueWithoutALongestDelayKeepsDistantDueTimes(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, e engine) {
		e.must(func(tx *db.Tx) error {
			return lease.Add(t.Context(), tx, "frame", "JOB-1", 1, tx.Time().Add(30*24*time.Hour))
		})
		e.reap(lease.Queue{Name: "frame", Life: life})
		if got := e.claim("a", 1); len(got) != 0 {
			t.Errorf("claimed a month early: %+v", got)
		}
	})
}
