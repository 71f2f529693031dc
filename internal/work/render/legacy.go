package render

import (
	"context"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/quote"
)

// cancelUnsubmitted is the cancel_reason of a job that nobody submitted in time.
const cancelUnsubmitted = "submit_expired"

// Hold makes a job of a locked quote and reserves its price, in the caller's
// transaction, and leaves it to wait for Submit: the older flow's spend
// boundary. Errors: as Start.
func (j *Jobs) Hold(ctx context.Context, tx *db.Tx, r StartRequest, q quote.Quote) (Object, error) {
	jobID, secret, err := j.begin(ctx, tx, r, q, AwaitingSubmit)
	if err != nil {
		return Object{}, err
	}
	o, err := j.objectOf(ctx, tx, r.WorkspaceID, jobID)
	o.WebhookSecret = secret
	return o, err
}

// Submit sends a job that Hold made to the workers. A job that was submitted
// before comes back as it is, unless it has ended without a result. Errors:
// render_not_found, render_not_submittable, not_accepting_jobs.
func (j *Jobs) Submit(ctx context.Context, workspaceID, jobID string) (out Object, err error) {
	err = j.DB.Write(ctx, func(tx *db.Tx) error {
		job, err := lock(ctx, tx, jobID)
		if err != nil {
			return err
		}
		if job.WorkspaceID != workspaceID {
			return notFound(jobID)
		}
		if err := j.submit(ctx, tx, job); err != nil {
			return err
		}
		out, err = j.object(ctx, tx, jobID)
		return err
	})
	return out, err
}

func (j *Jobs) submit(ctx context.Context, tx *db.Tx, job query.Job) error {
	switch status := Status(job.Status); {
	case status == AwaitingSubmit:
	case Flow(job.Flow) != FlowPublicV1 || status == Failed || status == Cancelled:
		return fault.New(fault.RenderNotSubmittable, "The render is %s; only an uploaded render that waits for it can be submitted.", status)
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
	if err := lease.Drop(ctx, tx, lease.ExpireQueue, submitWindow(job.JobID)); err != nil {
		return err
	}
	return enter(ctx, tx, job.WorkspaceID, job.JobID, job.FrameStart, job.FrameStep, job.FrameCount)
}

// submitWindow is the subject of the lease that ends a job's wait for Submit.
func submitWindow(jobID string) string { return "submit/" + jobID }

// ExpireSubmit cancels a job that was not submitted in time. It is the work of a
// lease of lease.ExpireQueue whose subject is "submit/<job_id>".
func (j *Jobs) ExpireSubmit(ctx context.Context, l lease.Lease, jobID string) error {
	return j.DB.Write(ctx, func(tx *db.Tx) error {
		job, err := lock(ctx, tx, jobID)
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

// ListRequest asks for a page of a workspace's jobs.
type ListRequest struct {
	WorkspaceID string
	Status      Status // "" means any
	Before      string // job id that the page begins behind; "" means the newest
	Limit       int
}

// List reads a page of a workspace's jobs, newest first, and whether older ones
// follow. A page never skips or repeats a job that was there when the first page
// was read: ids only grow.
func (j *Jobs) List(ctx context.Context, r ListRequest) (page []Object, more bool, err error) {
	before := r.Before
	if before == "" {
		before = id.Behind(id.Job)
	}
	err = j.DB.Read(ctx, func(tx *db.Tx) error {
		rows, err := tx.JobsOfWorkspace(ctx, query.JobsOfWorkspaceParams{
			WorkspaceID: r.WorkspaceID, Before: before, Status: string(r.Status), Max: int64(r.Limit) + 1,
		})
		if err != nil {
			return fmt.Errorf("list jobs: %w", err)
		}
		if more = len(rows) > r.Limit; more {
			rows = rows[:r.Limit]
		}
		page = make([]Object, 0, len(rows))
		for _, row := range rows {
			o, err := j.object(ctx, tx, row.JobID)
			if err != nil {
				return err
			}
			page = append(page, o)
		}
		return nil
	})
	return page, more, err
}
