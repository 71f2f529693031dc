package dispatch

import (
	"context"
	"fmt"
	"slices"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/render/buildoption"
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

// RecordLacks keeps what the Blender of a worker turned out to be built without. Error:
// worker_not_found.
func (w *Workers) RecordLacks(ctx context.Context, workerID string, lacks buildoption.Set) error {
	more := buildoption.Set(0)
	err := w.DB.Write(ctx, func(tx *db.Tx) error {
		row, err := tx.WorkerLock(ctx, workerID)
		if err != nil {
			return err
		}
		if more = lacks &^ buildoption.Set(row.Lacks); more == 0 {
			return nil
		}
		row, err = tx.WorkerSetLacks(ctx, query.WorkerSetLacksParams{Lacks: row.Lacks | int64(more), WorkerID: workerID})
		_, err = workerRows.Changed(ctx, tx, row, err)
		return err
	})
	if err != nil {
		return fmt.Errorf("keep what a worker lacks: %w", err)
	}
	if more != 0 {
		w.Log.Warn("a worker's Blender lacks what others have: they do that work", "worker_id", workerID, "lacks", more.Options())
	}
	return nil
}

// Encodes reports whether a worker that is online can encode a movie of a workspace. It is true
// while none is online: one that comes may.
func Encodes(ctx context.Context, tx *db.Tx, workspaceID string) (bool, error) {
	offer, err := Offered(ctx, tx, workspaceID)
	return err != nil || offer.Workers == 0 || slices.ContainsFunc(offer.Lacks, func(s buildoption.Set) bool { return s&ToEncode == 0 }), err
}

// ToEncode is what a worker encodes movies with.
var ToEncode = buildoption.Of(buildoption.Movies, buildoption.Encoders)

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
