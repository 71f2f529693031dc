package split

import (
	"context"
	"errors"
	"fmt"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/job"
	"svc.example/internal/work/quote"
)

// Claim leases a frame to finish to a worker, or otherwise a strip. ok is false when there is
// nothing for it.
func (c *Cuts) Claim(ctx context.Context, workerID string) (w Work, ok bool, err error) {
	if c == nil {
		return Work{}, false, nil
	}
	cuts := int64(0)
	// Idle workers poll often: this read takes no write lock.
	err = c.DB.Read(ctx, func(tx *db.Tx) (err error) {
		cuts, err = tx.StripsAnyOpen(ctx)
		return err
	})
	if err != nil || cuts == 0 {
		return Work{}, false, err
	}
	err = c.DB.Write(ctx, func(tx *db.Tx) error {
		w, ok = Work{}, false
		worker, err := tx.WorkerGet(ctx, workerID)
		if err != nil || worker.Strips != 1 || worker.SuspendedUntil > tx.Now {
			return err
		}
		if w, ok, err = c.claimFinish(ctx, tx, worker); err != nil {
			return err
		}
		if ok {
			return dispatch.CheckLimit(ctx, tx, w.Job.JobID)
		}
		if w, ok, err = c.claimStrip(ctx, tx, worker); err != nil || !ok {
			return err
		}
		return dispatch.CheckLimit(ctx, tx, w.Job.JobID)
	})
	if errors.Is(err, lease.ErrLost) || errors.Is(err, dispatch.ErrLimit) { // another worker was faster
		return Work{}, false, nil
	}
	return w, ok && err == nil, err
}

// Due counts what waits for workers, up to most: strips, and frames to finish.
func (c *Cuts) Due(ctx context.Context, tx *db.Tx, most int) (int, error) {
	if c == nil || most <= 0 {
		return 0, nil
	}
	n, err := tx.StripsDue(ctx, query.StripsDueParams{Now: tx.Now, Most: int64(most), Holder: holder})
	if err != nil {
		return 0, fmt.Errorf("count what waits of strips: %w", err)
	}
	return min(int(n), most), nil
}

// claimFinish gives a worker the lease of a frame that the service holds, and whose strips are in.
func (c *Cuts) claimFinish(ctx context.Context, tx *db.Tx, worker query.Worker) (Work, bool, error) {
	ready, err := tx.StripsReady(ctx, query.StripsReadyParams{Class: dispatch.ClassOf(worker), Holder: holder, Lacks: worker.Lacks, Pools: worker.Pools, Kind: worker.Kind})
	if db.IsNotFound(err) {
		return Work{}, false, nil
	}
	if err != nil {
		return Work{}, false, fmt.Errorf("find a frame to finish: %w", err)
	}
	held, err := tx.LeaseGet(ctx, frameLease(ready.JobID, ready.Frame))
	if err != nil {
		return Work{}, false, fmt.Errorf("read lease: %w", err)
	}
	l, err := handOver(ctx, tx, lease.Ref{ID: held.LeaseID, Holder: holder, Attempt: held.Attempt}, worker.WorkerID, c.LeaseLife)
	if err != nil {
		return Work{}, false, err
	}
	rows, err := rowsOf(ctx, tx, ready.JobID, ready.Frame)
	if err != nil || !complete(rows) {
		return Work{}, false, errors.Join(err, lease.ErrLost) // rolls back
	}
	record, scene, err := c.about(ctx, tx, ready.JobID)
	return finishing(record, scene, l, rows), true, err
}

// claimStrip leases the strip that waits longest.
func (c *Cuts) claimStrip(ctx context.Context, tx *db.Tx, worker query.Worker) (Work, bool, error) {
	next, err := tx.StripNext(ctx, query.StripNextParams{Now: tx.Now, Class: dispatch.ClassOf(worker), WorkerID: worker.WorkerID, Lacks: worker.Lacks, Pools: worker.Pools, Kind: worker.Kind})
	if db.IsNotFound(err) {
		return Work{}, false, nil
	}
	if err != nil {
		return Work{}, false, fmt.Errorf("find a strip: %w", err)
	}
	claimed, err := lease.ClaimIDs(ctx, tx, []string{next.LeaseID}, worker.WorkerID, c.LeaseLife)
	if err != nil || len(claimed) == 0 {
		return Work{}, false, err
	}
	row, err := tx.StripGet(ctx, query.StripGetParams{JobID: next.JobID, Frame: next.Frame, Part: next.Part})
	if err != nil {
		return Work{}, false, fmt.Errorf("read strip: %w", err)
	}
	record, scene, err := c.about(ctx, tx, next.JobID)
	return rendering(record, scene, claimed[0], row), true, err
}

// about reads a job and its scene.
func (c *Cuts) about(ctx context.Context, tx *db.Tx, jobID string) (job.Record, quote.Scene, error) {
	record, err := job.Read(ctx, tx, jobID)
	if err != nil {
		return record, quote.Scene{}, err
	}
	scene, err := job.SceneOf(ctx, tx, jobID)
	return record, scene, err
}

// Open opens a strip for the worker that finishes its frame; the caller closes it. Error:
// lease_lost.
func (c *Cuts) Open(ctx context.Context, workerID, jobID, sha256 string) (blob.Reader, error) {
	var key string
	err := c.DB.Read(ctx, func(tx *db.Tx) (err error) {
		key, err = tx.StripBlob(ctx, query.StripBlobParams{JobID: jobID, Sha256: sha256, WorkerID: workerID})
		return err
	})
	if db.IsNotFound(err) {
		return nil, fault.New(fault.LeaseLost, "This worker finishes no frame of %s with the strip %s.", jobID, sha256)
	}
	if err != nil {
		return nil, fmt.Errorf("find strip: %w", err)
	}
	return c.Blobs.Open(ctx, key)
}
