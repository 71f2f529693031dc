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

// Fail ends an attempt that a worker could not finish. The frame goes to another worker,
// or the job fails: see framecheck.Failure.EndsJob. Error: lease_lost.
// Repeating it returns lease_lost, because the first call has ended the attempt; a worker
// takes that for an answer.
func (f *Frames) Fail(ctx context.Context, ref lease.Ref, failure framecheck.Failure) error {
	return f.DB.Write(ctx, func(tx *db.Tx) error { return f.failFrame(ctx, tx, ref, failure) })
}

// failFrame locks the job before the lease, in the order of the package comment. A job
// that has ended answers like a lost lease: its frames belong to no worker any more.
func (f *Frames) failFrame(ctx context.Context, tx *db.Tx, ref lease.Ref, failure framecheck.Failure) error {
	record, err := job.Lock(ctx, tx, jobOf(ref.ID))
	if fault.Is(err, fault.RenderNotFound) || (err == nil && job.Status(record.Status) != job.Rendering) {
		return leaseLost(ref.ID)
	}
	if err != nil {
		return err
	}
	l, err := lease.Fail(ctx, tx, ref, string(failure.Code), failure.Message, failure.RetryDelay())
	if errors.Is(err, lease.ErrLost) {
		return leaseLost(ref.ID)
	}
	if err != nil {
		return err
	}
	if err := dispatch.RecordRelease(ctx, tx, job.ForDispatch(record)); err != nil {
		return err
	}
	return f.recordFailure(ctx, tx, &record, ref, l.Item, failure)
}

// recordFailure stores a failed attempt whose frame is on the queue again, and ends the
// job if no further attempt can help. It updates record's status then, since callers
// continue with it. The attempt is stored first, because the history that decides includes
// it. The job fails before the worker's row is touched, by the order of locks.
func (f *Frames) recordFailure(ctx context.Context, tx *db.Tx, record *job.Record, ref lease.Ref, frame int64, failure framecheck.Failure) error {
	if err := dispatch.RecordFailure(ctx, tx, ref, record.JobID, frame, failure); err != nil {
		return err
	}
	if f.Failed != nil {
		tx.AfterCommit(func() { f.Failed(failure.Code) })
	}
	h, err := dispatch.HistoryOf(ctx, tx, job.ForDispatch(*record), ref, frame, failure)
	if err != nil {
		return err
	}
	ends, awaits := failure.EndsJob(h), failure.AwaitsOtherKey(h)
	if ends || awaits {
		// A frame that has been rendered well needs no further worker.
		painted, err := candidatesOf(ctx, tx, record.JobID, int(frame))
		if err != nil {
			return err
		}
		ends, awaits = ends && len(painted) == 0, awaits && len(painted) == 0
	}
	f.Log.Warn("frame failed", "job_id", record.JobID, "workspace_id", record.WorkspaceID, "frame", frame, "worker_id", ref.Holder, "attempt", ref.Attempt, "attempts", h.Attempts,
		"code", failure.Code, "message", failure.Message, "ends_job", ends, "awaits_other_key", awaits)
	switch {
	case ends:
		if err := f.failJob(ctx, tx, *record, frame, failure); err != nil {
			return err
		}
		record.Status = string(job.Failed)
	case awaits:
		if err := dispatch.SetUndecided(ctx, tx, ref, true); err != nil {
			return err
		}
	}
	// A lost GPU is certainly the worker's own fault. Other failures count against it only
	// when another worker renders the frame.
	if failure.Code == fault.GPUUnavailable {
		return f.Workers.RecordFault(ctx, tx, ref.Holder)
	}
	return nil
}

// failJob ends a job by the failure of one of its frames.
func (f *Frames) failJob(ctx context.Context, tx *db.Tx, record job.Record, frame int64, failure framecheck.Failure) error {
	return f.Jobs.Fail(ctx, tx, record, failure.Code, fmt.Sprintf("Frame %d: %s", frame, failure.Message))
}

// FailInput fails a job whose file is gone or damaged where the service stores it. The
// caller has read the file itself. A job that does not render any more stays as it is.
func (f *Frames) FailInput(ctx context.Context, jobID, file string) error {
	return f.DB.Write(ctx, func(tx *db.Tx) error {
		record, err := job.Lock(ctx, tx, jobID)
		if err != nil || job.Status(record.Status) != job.Rendering {
			return err
		}
		return f.Jobs.Fail(ctx, tx, record, fault.InputDamaged, fmt.Sprintf("The service's copy of the file %q is missing or damaged.", file))
	})
}

// Release returns frames of a worker that stops. It is no failure: it counts neither
// against the worker nor as an attempt of the frame. A lease that the worker no longer
// has is skipped: there is nothing to give back.
func (f *Frames) Release(ctx context.Context, refs []lease.Ref) error {
	if len(refs) == 0 {
		return nil
	}
	return f.DB.Write(ctx, func(tx *db.Tx) error { return f.release(ctx, tx, refs, "its worker gave it back") })
}

// release returns frames for a reason that the log has.
func (f *Frames) release(ctx context.Context, tx *db.Tx, refs []lease.Ref, reason string) error {
	var released []lease.Ref
	for _, ref := range refs {
		err := lease.Release(ctx, tx, ref, dispatch.FrameQueue)
		if errors.Is(err, lease.ErrLost) {
			continue
		}
		if err != nil {
			return err
		}
		released = append(released, ref)
	}
	for _, ref := range released { // all leases are locked before any turn
		record, err := job.Read(ctx, tx, jobOf(ref.ID))
		if err != nil {
			return err
		}
		if err := dispatch.RecordRelease(ctx, tx, job.ForDispatch(record)); err != nil {
			return err
		}
		tx.AfterCommit(func() {
			f.Log.Info("frame returned", "job_id", record.JobID, "workspace_id", record.WorkspaceID, "lease_id", ref.ID, "worker_id", ref.Holder, "attempt", ref.Attempt, "reason", reason)
		})
	}
	return nil
}
