package job

import (
	"context"
	"fmt"
	"log/slog"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	why "svc.example/internal/ground/reason"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/notice"
	"svc.example/internal/work/wallet"
	"svc.example/internal/work/webhook"
)

// Cancel ends a job that no worker has claimed, or of which workers gave nothing in their
// time, and gives its money back, in the caller's transaction. Cancelling a cancelled job again returns it as it is. The job's
// lock orders it and a first claim: one of them succeeds, and the other sees its
// result. Errors: render_not_found, render_not_cancellable.
func (j *Jobs) Cancel(ctx context.Context, tx *db.Tx, workspaceID, jobID string) (Object, error) {
	job, err := lockOf(ctx, tx, workspaceID, jobID)
	if err != nil {
		return Object{}, err
	}
	status := Status(job.Status)
	if status != Cancelled {
		cancellable, err := isCancellable(ctx, tx, job)
		if err != nil {
			return Object{}, err
		}
		if !cancellable {
			refused := fault.New(fault.RenderNotCancellable, "The render %s. It can only be cancelled before a worker has taken a frame.", status.Said())
			if status.Terminal() {
				refused = refused.WithAction("Nothing is left to cancel: the render has ended.")
			}
			return Object{}, refused
		}
		if err := j.cancel(ctx, tx, job, cancelRequested); err != nil {
			return Object{}, err
		}
	}
	return j.Object(ctx, tx, jobID)
}

// isCancellable reports whether a locked job may be cancelled: no worker has claimed it, or
// those that did gave nothing for it in their time. Otherwise a worker could keep a job, and
// the money that it reserves, without limit.
func isCancellable(ctx context.Context, tx *db.Tx, job Record) (bool, error) {
	if status := Status(job.Status); status != Rendering {
		return status.Cancellable(), nil
	}
	view, err := readView(ctx, tx, job.JobID)
	if err != nil {
		return false, fmt.Errorf("read job: %w", err)
	}
	return view.Stuck, nil
}

// cancelRequested is the cancel_reason of a job that its owner cancelled.
const cancelRequested = "requested"

// cancel ends a locked job for a reason that callers read in cancel_reason.
func (j *Jobs) cancel(ctx context.Context, tx *db.Tx, job Record, reason string) error {
	if err := change(ctx, tx, job.JobID, Status(job.Status), Cancelled); err != nil {
		return err
	}
	if err := tx.JobCancelled(ctx, query.JobCancelledParams{Reason: reason, Now: tx.Now, JobID: job.JobID}); err != nil {
		return fmt.Errorf("cancel job: %w", err)
	}
	j.tell(tx, slog.LevelInfo, "job cancelled", job.JobID, job.WorkspaceID, "reason", reason)
	return j.endWithoutResult(ctx, tx, job)
}

// Fail ends a locked job that cannot complete and releases its money. Callers see code
// and message as the job's failure, so the message contains nothing of the service's
// inside. The job must be in a state from which the table allows Failed. Workers that
// still render a frame of it find their lease gone at the next report.
func (j *Jobs) Fail(ctx context.Context, tx *db.Tx, job Record, code fault.Code, message string) error {
	if err := change(ctx, tx, job.JobID, Status(job.Status), Failed); err != nil {
		return err
	}
	if err := tx.JobFailed(ctx, query.JobFailedParams{Code: string(code), Message: message, Now: tx.Now, JobID: job.JobID}); err != nil {
		return fmt.Errorf("fail job: %w", err)
	}
	j.tell(tx, slog.LevelWarn, "job failed", job.JobID, job.WorkspaceID, "code", code, "message", message)
	return j.endWithoutResult(ctx, tx, job)
}

// FailByOperator ends a job of any workspace that has not ended, at any time, and gives
// all its money back; its owner reads the reason. Workers that still render a frame of it
// and a process that packs it find their leases gone. Errors: invalid_request for a
// reason that is empty or too long, render_not_found, job_ended.
func (j *Jobs) FailByOperator(ctx context.Context, tx *db.Tx, jobID, reason string) (Object, error) {
	reason, err := why.Of(reason)
	if err != nil {
		return Object{}, err
	}
	job, err := Lock(ctx, tx, jobID)
	if err != nil {
		return Object{}, err
	}
	if Status(job.Status).Terminal() {
		return Object{}, fault.New(fault.JobEnded, "Job %s has already ended: it is %s.", jobID, job.Status)
	}
	if err := j.Fail(ctx, tx, job, fault.EndedByOperator, reason); err != nil {
		return Object{}, err
	}
	return j.Object(ctx, tx, jobID)
}

// endWithoutResult releases the reservation of a job that has failed or was cancelled,
// drops its remaining work and publishes its end. The event comes last, because it
// shows the job with its final money and times.
func (j *Jobs) endWithoutResult(ctx context.Context, tx *db.Tx, job Record) error {
	if err := unlessFree(wallet.Release)(ctx, tx, job.WorkspaceID, job.JobID, job.PriceCents); err != nil {
		return err
	}
	if err := lease.Drop(ctx, tx, PackageQueue, job.JobID); err != nil {
		return err
	}
	if err := lease.Drop(ctx, tx, lease.ExpireQueue, expiry(ExpireSubmit, job.JobID)); err != nil {
		return err
	}
	if err := dispatch.Dequeue(ctx, tx, ForDispatch(job)); err != nil {
		return err
	}
	if err := scheduleFrameRemoval(ctx, tx, job.JobID); err != nil {
		return err
	}
	return j.publishEnd(ctx, tx, job.JobID)
}

// scheduleFrameRemoval enqueues the removal of the frames' files, after the commit that
// ends the job: the ZIP contains them, or there will be none.
func scheduleFrameRemoval(ctx context.Context, tx *db.Tx, jobID string) error {
	return lease.Add(ctx, tx, lease.ExpireQueue, expiry(ExpireFrames, jobID), 0, tx.Time())
}

// eventOf is the webhook event of a terminal state (spec 6). ok is false for any other
// state.
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

// publishEnd writes the webhook event of a job that has ended, in the transaction of its
// end: a crash can lose neither without the other. The event contains the job as it is
// now, because a delivery may come days later.
func (j *Jobs) publishEnd(ctx context.Context, tx *db.Tx, jobID string) error {
	o, err := j.Object(ctx, tx, jobID)
	if err != nil {
		return err
	}
	event, ok := eventOf(o.Status)
	if !ok {
		return fmt.Errorf("job %s is %s and has not ended: no event to publish", jobID, o.Status)
	}
	o.StartedBy = nil // an event is kept as it is, also when a person is erased
	err = webhook.Publish(ctx, tx, webhook.Event{WorkspaceID: o.WorkspaceID, JobID: jobID, Type: event, Data: o, Test: j.Test})
	if err != nil || o.Status == Cancelled || j.Test {
		return err // a cancelled job is no news to its workspace, and nobody waits for one of test mode
	}
	return notice.Add(ctx, tx, o.WorkspaceID, jobID, j.NoticePause)
}

// tell logs a step of a job once its transaction has committed.
func (j *Jobs) tell(tx *db.Tx, level slog.Level, step, jobID, workspaceID string, more ...any) {
	tx.AfterCommit(func() {
		j.Log.Log(context.Background(), level, step, append([]any{"job_id", jobID, "workspace_id", workspaceID}, more...)...)
	})
}
