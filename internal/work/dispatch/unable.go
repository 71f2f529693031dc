package dispatch

import (
	"context"
	"fmt"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
)

// Bounds of the time for which a worker that cannot work gets no frames. Its first report may
// be of a disk that was full for a moment.
const (
	firstUnable   = 5 * time.Second // doubles with each report
	longestUnable = 5 * time.Minute
)

// unableFor is how long a worker gets no frames that has been suspended so often before.
func unableFor(before int64) time.Duration {
	if before >= 6 {
		return longestUnable
	}
	return min(firstUnable<<before, longestUnable)
}

// RecordUnable keeps why a worker cannot work, as it says itself when it gives frames back:
// no Blender starts, or its disk is full. It gets no frames for a while, then one to try. It
// is unable until it has rendered one. Error: worker_not_found.
func (w *Workers) RecordUnable(ctx context.Context, workerID, reason string) error {
	var was, is query.Worker
	err := w.DB.Write(ctx, func(tx *db.Tx) (err error) {
		if was, err = tx.WorkerLock(ctx, workerID); err != nil {
			return err
		}
		p := query.WorkerSetUnableParams{WorkerID: workerID, Unable: reason, Suspensions: was.Suspensions, SuspendedUntil: was.SuspendedUntil}
		if was.SuspendedUntil <= tx.Now { // frames that it held at that time are no further report
			p.Suspensions, p.SuspendedUntil = was.Suspensions+1, tx.Now+unableFor(was.Suspensions).Microseconds()
		}
		is, err = tx.WorkerSetUnable(ctx, p)
		_, err = workerRows.Changed(ctx, tx, is, err)
		return err
	})
	if err != nil {
		return fmt.Errorf("keep that a worker cannot work: %w", err)
	}
	if was.Unable != reason {
		w.Log.Warn("worker cannot work: it gets no frames for now", "worker_id", workerID, "name", is.Name, "reason", reason, "until", db.Time(is.SuspendedUntil))
	}
	return nil
}

// recordAble records that a worker has rendered a frame after it could not work.
func (w *Workers) recordAble(ctx context.Context, tx *db.Tx, workerID string) error {
	row, err := tx.WorkerLock(ctx, workerID)
	if err != nil {
		return fmt.Errorf("read worker: %w", err)
	}
	p := query.WorkerSetUnableParams{WorkerID: workerID, SuspendedUntil: row.SuspendedUntil}
	row, err = tx.WorkerSetUnable(ctx, p)
	if _, err := workerRows.Changed(ctx, tx, row, err); err != nil {
		return fmt.Errorf("keep that a worker works again: %w", err)
	}
	tx.AfterCommit(func() { w.Log.Info("worker works again", "worker_id", workerID, "name", row.Name) })
	return nil
}
