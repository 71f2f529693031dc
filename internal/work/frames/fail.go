package frames

import (
	"context"
	"errors"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/framecheck"
	"svc.example/internal/work/job"
)

// Fail takes a frame back from a worker that could not render it. It goes to another
// worker, or its job fails: see framecheck.Failure.EndsJob. Error: lease_lost.
func (f *Frames) Fail(ctx context.Context, ref lease.Ref, failure framecheck.Failure) error {
	return f.DB.Write(ctx, func(tx *db.Tx) error { return f.failFrame(ctx, tx, ref, failure) })
}

func (f *Frames) failFrame(ctx context.Context, tx *db.Tx, ref lease.Ref, failure framecheck.Failure) error {
	record, err := job.Lock(ctx, tx, jobOf(ref.ID))
	if fault.Is(err, fault.RenderNotFound) || (err == nil && job.Status(record.Status) != job.Rendering) {
		return lost(ref.ID)
	}
	if err != nil {
		return err
	}
	l, err := lease.Fail(ctx, tx, ref, string(failure.Code), failure.Message, failure.RetryDelay())
	if errors.Is(err, lease.ErrLost) {
		return lost(ref.ID)
	}
	if err != nil {
		return err
	}
	if err := dispatch.RecordRelease(ctx, tx, job.ForDispatch(record)); err != nil {
		return err
	}
	return f.recordFailure(ctx, tx, &record, ref, l.Item, failure)
}

// recordFailure keeps a failed attempt whose frame waits again, and ends the job when
// there is no hope for it; record then says so.
func (f *Frames) recordFailure(ctx context.Context, tx *db.Tx, record *job.Record, ref lease.Ref, frame int64, failure framecheck.Failure) error {
	if err := dispatch.RecordFailure(ctx, tx, ref, record.JobID, frame, failure); err != nil {
		return err
	}
	h, err := dispatch.HistoryOf(ctx, tx, job.ForDispatch(*record), ref, frame, failure)
	if err != nil {
		return err
	}
	ends := failure.EndsJob(h)
	f.Log.Warn("frame failed", "job_id", record.JobID, "frame", frame, "worker_id", ref.Holder, "attempt", ref.Attempt, "tries", h.Attempts,
		"code", failure.Code, "message", failure.Message, "ends_job", ends)
	if ends {
		if err := f.Jobs.Fail(ctx, tx, *record, failure.Code, fmt.Sprintf("Frame %d: %s", frame, failure.Message)); err != nil {
			return err
		}
		record.Status = string(job.Failed)
	}
	if failure.Code == fault.GPUUnavailable {
		return f.Workers.RecordFault(ctx, tx, ref.Holder)
	}
	return nil
}

// Release takes frames back from a worker that stops; it is no failure.
func (f *Frames) Release(ctx context.Context, refs []lease.Ref) error {
	if len(refs) == 0 {
		return nil
	}
	return f.DB.Write(ctx, func(tx *db.Tx) error {
		var given []string // jobs, once for each frame
		for _, ref := range refs {
			err := lease.Release(ctx, tx, ref, dispatch.FrameQueue)
			if errors.Is(err, lease.ErrLost) {
				continue
			}
			if err != nil {
				return err
			}
			given = append(given, jobOf(ref.ID))
		}
		for _, jobID := range given { // turn rows are locked behind all leases
			record, err := job.Read(ctx, tx, jobID)
			if err != nil {
				return err
			}
			if err := dispatch.RecordRelease(ctx, tx, job.ForDispatch(record)); err != nil {
				return err
			}
		}
		return nil
	})
}

// Queue says how frames are treated. A frame that fails too often fails its job: it
// becomes no dead letter.
func (f *Frames) Queue() lease.Queue {
	return lease.Queue{Name: dispatch.FrameQueue, Life: f.LeaseLife, LongestDelay: framecheck.LongestRetryDelay, OnLapse: f.lapse}
}

// lapse takes a frame back from a worker that went silent.
func (f *Frames) lapse(ctx context.Context, tx *db.Tx, l lease.Lease) error {
	err := f.failFrame(ctx, tx, l.Ref(), framecheck.Failure{Code: fault.WorkerLost, Message: "The worker that rendered it went silent."})
	if fault.Is(err, fault.LeaseLost) {
		return lease.ErrLost
	}
	return err
}
