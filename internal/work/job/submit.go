package job

import (
	"context"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
)

// cancelUnsubmitted is the cancel_reason of a job that was not submitted in time.
const cancelUnsubmitted = "submit_expired"

// Submit sends a job that Hold made to the workers, in the caller's transaction. A
// job that was submitted before comes back as it is, unless it has ended without a
// result. Errors: render_not_found, render_not_submittable, not_accepting_jobs.
func (j *Jobs) Submit(ctx context.Context, tx *db.Tx, workspaceID, jobID string) (Object, error) {
	job, err := lockOf(ctx, tx, workspaceID, jobID)
	if err != nil {
		return Object{}, err
	}
	if err := j.submit(ctx, tx, job); err != nil {
		return Object{}, err
	}
	return j.Object(ctx, tx, jobID)
}

// submit changes the state and enqueues the frames of a locked job. It does nothing for
// a job that was submitted before, so that a repeated request does not render twice.
func (j *Jobs) submit(ctx context.Context, tx *db.Tx, job Record) error {
	switch status := Status(job.Status); {
	case status == AwaitingSubmit:
	case Flow(job.Flow) != FlowPublicV1 || status == Failed || status == Cancelled:
		return fault.New(fault.RenderNotSubmittable, "The render %s. Only a render that has not been submitted can be submitted.", status.Said())
	default:
		return nil // it was submitted before
	}
	if !j.Accepts() {
		return notAccepting()
	}
	if err := change(ctx, tx, job.JobID, AwaitingSubmit, Queued); err != nil {
		return err
	}
	if err := tx.JobSubmitted(ctx, query.JobSubmittedParams{Now: tx.Now, JobID: job.JobID}); err != nil {
		return fmt.Errorf("submit job: %w", err)
	}
	// The scheduled cancellation goes with the wait. If it holds its lease at this
	// moment, its Finish fails and the job stays submitted.
	if err := lease.Drop(ctx, tx, lease.ExpireQueue, expiry(ExpireSubmit, job.JobID)); err != nil {
		return err
	}
	return enqueue(ctx, tx, job.JobID)
}

// CancelUnsubmitted cancels a job that was not submitted in time (decisions 4) and
// releases its money. It is the work of a lease of lease.ExpireQueue and kind
// ExpireSubmit. A job that was submitted a moment ago stays as it is.
func (j *Jobs) CancelUnsubmitted(ctx context.Context, l lease.Lease, jobID string) error {
	return j.DB.Write(ctx, func(tx *db.Tx) error {
		job, err := Lock(ctx, tx, jobID)
		if err != nil {
			return err
		}
		if err := lease.Finish(ctx, tx, l.Ref()); err != nil {
			return err // submitted a moment ago
		}
		if Status(job.Status) != AwaitingSubmit {
			return nil
		}
		return j.cancel(ctx, tx, job, cancelUnsubmitted)
	})
}
