package dispatch

import (
	"context"
	"fmt"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
)

// standing is how far a worker is trusted with frames. An attempt speaks against the
// worker only when it is shown to be the worker's fault: another rendered the
// same frame, or the worker says that its GPU is gone. So no broken scene sets a
// worker aside.
type standing struct {
	strikes int64 // a fault adds strikeWorth, a good frame takes one away
	asides  int64 // how often it was set aside since it last stood clean
	until   int64 // set aside until then, microseconds since 1970
}

const (
	strikeWorth = 4                // good frames that make up for one fault
	strikesMost = 3 * strikeWorth  // then the worker is set aside
	firstAside  = 30 * time.Second // doubles each time
	lastAside   = 15 * time.Minute
)

// struck takes in a fault. A worker that comes back from being set aside is on
// probation: the next fault sets it aside again, for longer.
func (s standing) struck(now int64) standing {
	if s.until > now {
		return s // of what it began before
	}
	s.strikes += strikeWorth
	if s.strikes < strikesMost {
		return s
	}
	pause := lastAside
	if s.asides < 6 {
		pause = min(firstAside<<s.asides, lastAside)
	}
	return standing{strikes: strikesMost - strikeWorth, asides: s.asides + 1, until: now + pause.Microseconds()}
}

// cleared takes in a good frame; enough of them make up for everything.
func (s standing) cleared() standing {
	s.strikes = max(s.strikes-1, 0)
	if s.strikes == 0 {
		s.asides = 0
	}
	return s
}

// rememberWorker is how long a worker's standing outlives it.
const rememberWorker = time.Hour

// restoreStanding gives a worker that has just registered the standing of the one
// that had its key and name before: to be started again makes up for nothing.
func restoreStanding(ctx context.Context, tx *db.Tx, workerID, keyID, name string) error {
	before, err := tx.WorkerBefore(ctx, query.WorkerBeforeParams{Since: tx.Now - rememberWorker.Microseconds(), KeyID: keyID, Name: name, WorkerID: workerID})
	if db.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the worker before: %w", err)
	}
	_, err = changeStanding(ctx, tx, workerID, func(standing) standing { return standing{before.Strikes, before.Asides, before.AsideUntil} })
	return err
}

// RecordFault counts a fault against a worker, which may set it aside.
func (w *Workers) RecordFault(ctx context.Context, tx *db.Tx, workerID string) error {
	s, err := changeStanding(ctx, tx, workerID, func(s standing) standing { return s.struck(tx.Now) })
	if err == nil && s.until > tx.Now {
		w.Log.Warn("a worker that keeps failing is set aside", "worker_id", workerID, "until", db.Time(s.until), "times", s.asides)
	}
	return err
}

// RecordGoodFrame notes a good frame of a worker.
func (w *Workers) RecordGoodFrame(ctx context.Context, tx *db.Tx, workerID string) error {
	row, err := tx.WorkerGet(ctx, workerID)
	if err != nil && !db.IsNotFound(err) {
		return fmt.Errorf("read worker: %w", err)
	}
	if row.Strikes == 0 {
		return nil // nothing to make up for: no row is locked for nearly every frame
	}
	_, err = changeStanding(ctx, tx, workerID, standing.cleared)
	return err
}

// changeStanding locks a worker's row and changes how it stands. A worker that is not
// known stands clean.
func changeStanding(ctx context.Context, tx *db.Tx, workerID string, change func(standing) standing) (standing, error) {
	row, err := tx.WorkerLock(ctx, workerID)
	if db.IsNotFound(err) {
		return standing{}, nil
	}
	if err != nil {
		return standing{}, fmt.Errorf("read worker: %w", err)
	}
	before := standing{row.Strikes, row.Asides, row.AsideUntil}
	after := change(before)
	if after == before {
		return after, nil
	}
	_, err = tx.WorkerStands(ctx, query.WorkerStandsParams{Strikes: after.strikes, Asides: after.asides, AsideUntil: after.until, WorkerID: workerID})
	if err != nil {
		return after, fmt.Errorf("change a worker's standing: %w", err)
	}
	return after, nil
}
