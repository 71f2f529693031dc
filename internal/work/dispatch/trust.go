package dispatch

import (
	"context"
	"fmt"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
)

// trust is how far a worker is trusted with frames. A failed attempt counts against
// the worker only when it is proven to be the worker's fault: another worker rendered
// the same frame, or the worker reports that its GPU is gone. So a broken scene never
// suspends a worker. On the wire of svc admin worker list a suspension is called "aside".
type trust struct {
	faults      int64 // a fault adds faultWeight, a good frame subtracts one
	suspensions int64 // since faults were last zero
	until       int64 // the end of the suspension, microseconds since 1970
}

const (
	faultWeight       = 4                // good frames that make up for one fault
	suspendAt         = 3 * faultWeight  // from here on the worker is suspended
	firstSuspension   = 30 * time.Second // doubles each time
	longestSuspension = 15 * time.Minute
)

// withFault counts a fault. A worker that returns from a suspension is on probation:
// the next fault suspends it again, for twice the time.
func (s trust) withFault(now int64) trust {
	if s.until > now {
		return s // it claimed that frame before the suspension
	}
	s.faults += faultWeight
	if s.faults < suspendAt {
		return s
	}
	pause := longestSuspension
	if s.suspensions < 6 {
		pause = min(firstSuspension<<s.suspensions, longestSuspension)
	}
	return trust{faults: suspendAt - faultWeight, suspensions: s.suspensions + 1, until: now + pause.Microseconds()}
}

// withGoodFrame counts a good frame. Enough of them clear the history as well.
func (s trust) withGoodFrame() trust {
	s.faults = max(s.faults-1, 0)
	if s.faults == 0 {
		s.suspensions = 0
	}
	return s
}

// trustLife is how long a trust is kept for a worker's next registration.
const trustLife = time.Hour

// restoreTrust gives a newly registered worker the trust of the last one with its
// key and name. Otherwise a restart would end every suspension.
func restoreTrust(ctx context.Context, tx *db.Tx, workerID, keyID, name string) error {
	before, err := tx.WorkerPredecessor(ctx, query.WorkerPredecessorParams{Since: tx.Now - trustLife.Microseconds(), KeyID: keyID, Name: name, WorkerID: workerID})
	if db.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the worker before: %w", err)
	}
	if before.SuspendedUntil == drained || before.Unable != "" {
		before.SuspendedUntil = 0 // until it is started again
	}
	_, err = changeTrust(ctx, tx, workerID, func(s trust) trust {
		return trust{before.Faults, before.Suspensions, max(before.SuspendedUntil, s.until)}
	})
	return err
}

// RecordFault counts a fault against a worker, which may suspend it.
func (w *Workers) RecordFault(ctx context.Context, tx *db.Tx, workerID string) error {
	s, err := changeTrust(ctx, tx, workerID, func(s trust) trust { return s.withFault(tx.Now) })
	if err == nil && s.until > tx.Now {
		w.Log.Warn("worker suspended: it keeps failing", "worker_id", workerID, "until", db.Time(s.until), "times", s.suspensions)
	}
	return err
}

// RecordGoodFrame counts a good frame of a worker.
func (w *Workers) RecordGoodFrame(ctx context.Context, tx *db.Tx, workerID string) error {
	row, err := tx.WorkerGet(ctx, workerID)
	if err != nil && !db.IsNotFound(err) {
		return fmt.Errorf("read worker: %w", err)
	}
	if row.Unable != "" {
		if err := w.recordAble(ctx, tx, workerID); err != nil {
			return err
		}
	}
	if row.Faults == 0 {
		return nil // nearly every frame: it locks no row
	}
	_, err = changeTrust(ctx, tx, workerID, trust.withGoodFrame)
	return err
}

// changeTrust locks a worker's row and changes its trust. An unknown worker, such
// as one whose row was removed, has the zero trust.
func changeTrust(ctx context.Context, tx *db.Tx, workerID string, change func(trust) trust) (trust, error) {
	row, err := tx.WorkerLock(ctx, workerID)
	if db.IsNotFound(err) {
		return trust{}, nil
	}
	if err != nil {
		return trust{}, fmt.Errorf("read worker: %w", err)
	}
	before := trust{row.Faults, row.Suspensions, row.SuspendedUntil}
	after := change(before)
	if after == before {
		return after, nil
	}
	row, err = tx.WorkerSuspend(ctx, query.WorkerSuspendParams{Faults: after.faults, Suspensions: after.suspensions, SuspendedUntil: after.until, WorkerID: workerID})
	if _, err := workerRows.Changed(ctx, tx, row, err); err != nil {
		return after, fmt.Errorf("change a worker's trust: %w", err)
	}
	return after, nil
}
