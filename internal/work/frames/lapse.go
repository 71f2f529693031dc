package frames

import (
	"context"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/framecheck"
	"svc.example/internal/work/job"
)

// Queue defines how the lease engine treats frames. A frame never becomes a dead letter:
// a final failure fails its job.
func (f *Frames) Queue() lease.Queue {
	return lease.Queue{Name: dispatch.FrameQueue, Life: f.LeaseLife, LongestDelay: framecheck.LongestRetryDelay, Remote: true, OnLapse: f.lapse}
}

// lapse ends the attempt of a worker that stopped sending heartbeats. A report that came
// first makes it ErrLost, and nothing happens. A blameless lapse is no failed attempt, and
// neither is one of the service's own, which holds frames whose strips are rendered.
func (f *Frames) lapse(ctx context.Context, tx *db.Tx, l lease.Lease, blameless bool) error {
	if blameless || l.Holder == dispatch.ServiceHolder {
		return f.release(ctx, tx, []lease.Ref{l.Ref()}, "its worker fell silent with others")
	}
	err := f.failFrame(ctx, tx, l.Ref(), framecheck.Failure{Code: fault.WorkerLost, Message: "The worker that rendered it stopped reporting."})
	if fault.Is(err, fault.LeaseLost) {
		return lease.ErrLost
	}
	return err
}

// resume gives a worker its frames back whose leases lapsed and that nobody else has: a
// worker that is heard again was not lost. Attempts that counted as lost count no more. It
// returns the leases that the worker has again. Error: dispatch.ErrOtherKind when a worker of
// another kind is faster; a repetition sees that.
func (f *Frames) resume(ctx context.Context, tx *db.Tx, lost []lease.Ref) (resumed []lease.Ref, err error) {
	kind := "" // all are of one worker
	for _, ref := range lost {
		lapsed, err := lease.LockLapsed(ctx, tx, ref)
		if err != nil {
			return nil, err
		}
		if !lapsed || jobOf(ref.ID) == "" {
			continue
		}
		// Others may render the job by now with another Blender.
		if kind, err = dispatch.KindOf(ctx, tx, ref.Holder); err != nil {
			return nil, err
		}
		if takes, err := dispatch.Takes(ctx, tx, jobOf(ref.ID), kind); err != nil {
			return nil, err
		} else if !takes {
			continue
		}
		counted, err := dispatch.ForgetFailure(ctx, tx, ref)
		if err != nil {
			return nil, err
		}
		if err := lease.Resume(ctx, tx, ref, counted, f.LeaseLife); err != nil {
			return nil, err
		}
		resumed = append(resumed, ref)
	}
	for _, ref := range resumed { // all leases are locked before any turn
		record, err := job.Read(ctx, tx, jobOf(ref.ID))
		if err != nil {
			return nil, err
		}
		if _, err := dispatch.RecordClaim(ctx, tx, job.ForDispatch(record), kind, 1); err != nil {
			return nil, err
		}
		tx.AfterCommit(func() {
			f.Log.Info("frame resumed: its worker is heard again", "job_id", record.JobID, "workspace_id", record.WorkspaceID, "lease_id", ref.ID, "worker_id", ref.Holder, "attempt", ref.Attempt)
		})
	}
	return resumed, nil
}
