package job

import (
	"context"
	"fmt"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/wallet"
	"svc.example/internal/work/webhook"
)

// Cancel ends a job that no worker has claimed and gives its money back, in the
// caller's transaction. Cancelling a cancelled job again returns it as it is.
// Errors: render_not_found, render_not_cancellable.
func (j *Jobs) Cancel(ctx context.Context, tx *db.Tx, workspaceID, jobID string) (Object, error) {
	job, err := lockOf(ctx, tx, workspaceID, jobID)
	if err != nil {
		return Object{}, err
	}
	status := Status(job.Status)
	if status != Cancelled {
		if !status.Cancellable() {
			return Object{}, fault.New(fault.RenderNotCancellable, "The render is %s; it can be cancelled only before a worker claims it.", status)
		}
		if err := j.cancel(ctx, tx, job, cancelRequested); err != nil {
			return Object{}, err
		}
	}
	return j.Object(ctx, tx, jobID)
}

// cancelRequested is the cancel_reason of a job that its owner cancelled.
const cancelRequested = "requested"

func (j *Jobs) cancel(ctx context.Context, tx *db.Tx, job Record, reason string) error {
	if err := change(ctx, tx, job.JobID, Status(job.Status), Cancelled); err != nil {
		return err
	}
	if err := tx.JobCancelled(ctx, query.JobCancelledParams{Reason: reason, Now: tx.Now, JobID: job.JobID}); err != nil {
		return fmt.Errorf("cancel job: %w", err)
	}
	return j.giveBack(ctx, tx, job)
}

// Fail ends a locked job that cannot be finished and gives its money back.
func (j *Jobs) Fail(ctx context.Context, tx *db.Tx, job Record, code fault.Code, message string) error {
	if err := change(ctx, tx, job.JobID, Status(job.Status), Failed); err != nil {
		return err
	}
	if err := tx.JobFailed(ctx, query.JobFailedParams{Code: string(code), Message: message, Now: tx.Now, JobID: job.JobID}); err != nil {
		return fmt.Errorf("fail job: %w", err)
	}
	j.Log.Info("job failed", "job_id", job.JobID, "code", code)
	return j.giveBack(ctx, tx, job)
}

// giveBack releases the reservation of a job that has ended without a result,
// drops its outstanding work and tells of its end.
func (j *Jobs) giveBack(ctx context.Context, tx *db.Tx, job Record) error {
	if err := wallet.Release(ctx, tx, job.WorkspaceID, job.JobID, job.PriceCents); err != nil {
		return err
	}
	for queue, subject := range map[string]string{PackageQueue: job.JobID, lease.ExpireQueue: expiry(ExpireSubmit, job.JobID)} {
		if err := lease.Drop(ctx, tx, queue, subject); err != nil {
			return err
		}
	}
	if err := dispatch.Dequeue(ctx, tx, ForDispatch(job)); err != nil {
		return err
	}
	if err := clearFramesLater(ctx, tx, job.JobID); err != nil {
		return err
	}
	return j.tell(ctx, tx, job.JobID)
}

// clearFramesLater has the frames' own files removed once the job has ended:
// the ZIP holds them, or nobody will.
func clearFramesLater(ctx context.Context, tx *db.Tx, jobID string) error {
	return lease.Add(ctx, tx, lease.ExpireQueue, expiry(ExpireFrames, jobID), 0, tx.Time())
}

// eventOf names what is told of a job's end (spec 6).
func eventOf(s Status) (event string, ok bool) {
	switch s {
	case Completed:
		return contract.EventCompleted, true
	case Failed:
		return contract.EventFailed, true
	case Cancelled:
		return contract.EventCancelled, true
	}
	return "", false
}

// tell writes the event of a job that has ended, with the job as it is now, in
// the transaction of its end.
func (j *Jobs) tell(ctx context.Context, tx *db.Tx, jobID string) error {
	o, err := j.Object(ctx, tx, jobID)
	if err != nil {
		return err
	}
	event, ok := eventOf(o.Status)
	if !ok {
		return fmt.Errorf("job %s is %s, which is no end to tell of", jobID, o.Status)
	}
	return webhook.Publish(ctx, tx, webhook.Event{WorkspaceID: o.WorkspaceID, JobID: jobID, Type: event, Data: o})
}
