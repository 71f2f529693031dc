package split

import (
	"context"
	"errors"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/framecheck"
	"svc.example/internal/work/job"
)

// Heartbeat extends a worker's leases of strips, and returns the ids of those that it no longer
// holds. progress, 0 to 1, belongs to the lease at the same index.
func (c *Cuts) Heartbeat(ctx context.Context, held []lease.Ref, progress []float64) (lost []string, err error) {
	err = c.DB.Write(ctx, func(tx *db.Tx) (err error) {
		lost, err = lease.BeatAll(ctx, tx, held, progress, c.LeaseLife)
		return err
	})
	return lost, err
}

// Release returns strips of a worker that stops, which is no failure. A lease that the worker no
// longer has is skipped.
func (c *Cuts) Release(ctx context.Context, refs []lease.Ref) error {
	if len(refs) == 0 {
		return nil
	}
	return c.DB.Write(ctx, func(tx *db.Tx) error {
		for _, ref := range refs {
			if err := c.release(ctx, tx, ref); err != nil && !errors.Is(err, lease.ErrLost) {
				return err
			}
		}
		return nil
	})
}

// release returns a strip. Waiting workers listen for frames.
func (c *Cuts) release(ctx context.Context, tx *db.Tx, ref lease.Ref) error {
	return lease.Release(ctx, tx, ref, dispatch.StripQueue)
}

// Fail ends an attempt that a worker could not finish: another worker renders the strip, or one
// worker the whole frame. Error: lease_lost.
func (c *Cuts) Fail(ctx context.Context, ref lease.Ref, failure framecheck.Failure) error {
	err := c.DB.Write(ctx, func(tx *db.Tx) error { return c.fail(ctx, tx, ref, failure) })
	if errors.Is(err, lease.ErrLost) || fault.Is(err, fault.RenderNotFound) {
		return leaseLost(ref.ID)
	}
	return err
}

// fail is Fail with the errors of lease. A worker that is lost may have the strip again when it
// is back; one that failed it may not.
func (c *Cuts) fail(ctx context.Context, tx *db.Tx, ref lease.Ref, failure framecheck.Failure) error {
	jobID, item, ok := parse(ref.ID)
	if !ok {
		return lease.ErrLost
	}
	record, err := job.Lock(ctx, tx, jobID)
	if err != nil {
		return err
	}
	l, err := lease.Fail(ctx, tx, ref, string(failure.Code), failure.Message, 0)
	if err != nil {
		return err
	}
	frame, part := placeOf(item)
	c.Log.Warn("strip failed", "job_id", jobID, "frame", frame, "strip", part, "worker_id", ref.Holder, "attempt", ref.Attempt, "code", failure.Code, "message", failure.Message)
	if failure.Code != fault.WorkerLost {
		row, err := tx.StripGet(ctx, query.StripGetParams{JobID: jobID, Frame: frame, Part: part})
		if err == nil {
			row, err = tx.StripAvoids(ctx, query.StripAvoidsParams{JobID: jobID, Frame: frame, Part: part, Avoid: avoiding(row.Avoid, ref.Holder)})
		}
		if _, err := stripRows.Changed(ctx, tx, row, err); err != nil {
			return fmt.Errorf("fail strip: %w", err)
		}
	}
	if failure.Final || l.Failures >= mostFailures {
		rows, err := rowsOf(ctx, tx, jobID, frame)
		if err != nil {
			return err
		}
		if err := c.giveUp(ctx, tx, record, frame, rows, failure.Code, "A strip of it failed: "+failure.Message); err != nil {
			return err
		}
	}
	if failure.Code == fault.GPUUnavailable { // certainly the worker's own fault
		return c.Workers.RecordFault(ctx, tx, ref.Holder)
	}
	return nil
}

// Leases defines how the lease engine treats strips.
func (c *Cuts) Leases() lease.Queue {
	return lease.Queue{Name: dispatch.StripQueue, Life: c.LeaseLife, LongestDelay: framecheck.LongestRetryDelay, Remote: true, OnLapse: c.lapse}
}

// lapse ends the attempt of a worker that stopped sending heartbeats. A blameless lapse is no
// failed attempt.
func (c *Cuts) lapse(ctx context.Context, tx *db.Tx, l lease.Lease, blameless bool) error {
	if blameless {
		return c.release(ctx, tx, l.Ref())
	}
	err := c.fail(ctx, tx, l.Ref(), framecheck.Failure{Code: fault.WorkerLost, Message: "The worker that rendered it stopped reporting."})
	if fault.Is(err, fault.RenderNotFound) {
		return lease.ErrLost
	}
	return err
}
