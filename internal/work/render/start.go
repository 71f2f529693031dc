package render

import (
	"context"
	"errors"
	"fmt"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/lease"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/quote"
	"svc.example/internal/work/wallet"
	"svc.example/internal/work/webhook"
)

// errRaced says that another transaction changed the job first.
var errRaced = errors.New("the job has moved on")

// Flow is the door a job came through.
type Flow string

// Flows.
const (
	FlowJobAPI   Flow = "job_api"
	FlowPublicV1 Flow = "public_v1"
)

// JobsPath is where a flow's jobs are read, below the public address.
func (f Flow) JobsPath() string {
	if f == FlowPublicV1 {
		return links.RendersPath
	}
	return links.NodeJobsPath
}

// StartRequest is what the spend boundary needs to know.
type StartRequest struct {
	WorkspaceID string
	KeyID       string // the key that spends; "" for a session
	UploadID    string
	QuoteID     string
	Flow        Flow
	// MaxPriceCents is the most that the job may cost; nil means that the quote
	// is enough.
	MaxPriceCents *int64
	// Webhook is where the job's end is told, from Jobs.Webhooks.Target; the zero
	// one is nowhere. Of a quote that is started again it is not looked at.
	Webhook webhook.Target
}

// Start takes a locked quote and reserves its price, in one transaction: the
// spend boundary. Starting a quote again returns the job it has become; nothing
// is reserved twice. Errors: upload_not_found, quote_not_found, quote_expired,
// quote_not_qualified, price_above_max, insufficient_funds, spend_limit_reached,
// not_accepting_jobs.
func (j *Jobs) Start(ctx context.Context, r StartRequest) (Object, error) {
	var out Object
	err := j.DB.Write(ctx, func(tx *db.Tx) error {
		q, err := quote.Take(ctx, tx, r.WorkspaceID, r.UploadID, r.QuoteID)
		if err != nil {
			return err
		}
		jobID, secret := q.JobID, ""
		if jobID == "" {
			if jobID, secret, err = j.begin(ctx, tx, r, q, Queued); err != nil {
				return err
			}
		}
		out, err = j.objectOf(ctx, tx, r.WorkspaceID, jobID)
		out.WebhookSecret = secret
		return err
	})
	return out, err
}

// begin makes a job, reserves its price and arms its webhook, whose secret it
// gives when the service made it. A queued job is handed to the workers; one that
// awaits its submit gets a time to do so.
func (j *Jobs) begin(ctx context.Context, tx *db.Tx, r StartRequest, q quote.Quote, status Status) (jobID, secret string, err error) {
	if !j.Accepts() {
		return "", "", notAccepting()
	}
	if err := q.Startable(); err != nil {
		return "", "", err
	}
	if r.MaxPriceCents != nil && q.PriceCents > *r.MaxPriceCents {
		return "", "", fault.New(fault.PriceAboveMax, "The quote is for %s; this start allows at most %s.", wallet.Money(q.PriceCents), wallet.Money(*r.MaxPriceCents)).
			With(map[string]int64{"price_cents": q.PriceCents, "max_price_cents": *r.MaxPriceCents})
	}
	if err := withinLimit(ctx, tx, r.KeyID, q.PriceCents); err != nil {
		return "", "", err
	}
	jobID = id.New(id.Job)
	submitted := tx.Now
	if status == AwaitingSubmit {
		submitted = 0
	}
	err = tx.JobCreate(ctx, query.JobCreateParams{
		JobID: jobID, WorkspaceID: r.WorkspaceID, KeyID: r.KeyID, Flow: string(r.Flow), Status: string(status),
		UploadID: q.UploadID, QuoteID: q.QuoteID, Filename: q.Filename, InputSha256: q.InputSHA256, InputSizeBytes: q.InputSizeBytes,
		FrameStart: int64(q.FrameStart), FrameEnd: int64(q.FrameEnd), FrameStep: int64(q.FrameStep),
		FrameCount: int64(q.FrameCount), PricingVersion: q.PricingVersion, PriceCents: q.PriceCents,
		CreatedAt: tx.Now, SubmittedAt: submitted, UpdatedAt: tx.Now,
	})
	if err != nil {
		return "", "", fmt.Errorf("create job: %w", err)
	}
	if err := wallet.Reserve(ctx, tx, r.WorkspaceID, jobID, q.PriceCents); err != nil {
		return "", "", err
	}
	if err := quote.Accept(ctx, tx, q.QuoteID, jobID); err != nil {
		return "", "", err
	}
	if secret, err = r.Webhook.Arm(ctx, tx, r.WorkspaceID, jobID); err != nil {
		return "", "", err
	}
	tx.Announce(topic(jobID))
	if status == AwaitingSubmit {
		return jobID, secret, lease.Add(ctx, tx, lease.ExpireQueue, submitWindow(jobID), 0, tx.Time().Add(contract.SubmitWindow))
	}
	return jobID, secret, enter(ctx, tx, r.WorkspaceID, jobID, int64(q.FrameStart), int64(q.FrameStep), int64(q.FrameCount))
}

func notAccepting() error {
	return fault.New(fault.NotAcceptingJobs, "New jobs are not taken right now.").After(time.Minute)
}

// withinLimit refuses a job that would take a key above its monthly limit.
func withinLimit(ctx context.Context, tx *db.Tx, keyID string, cents int64) error {
	if keyID == "" {
		return nil
	}
	limit, err := tx.AgentKeyLimit(ctx, keyID)
	if db.IsNotFound(err) || (err == nil && limit < 0) {
		return nil // not an agent key, or one without limit
	}
	if err != nil {
		return fmt.Errorf("read spend limit: %w", err)
	}
	now := tx.Time()
	month := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	spent, err := tx.JobSpentByKey(ctx, query.JobSpentByKeyParams{KeyID: keyID, Since: db.Micros(month)})
	if err != nil {
		return fmt.Errorf("add up spending: %w", err)
	}
	if spent+cents > limit {
		return fault.New(fault.SpendLimitReached, "This job costs %s; the key has %s of its monthly %s left.",
			wallet.Money(cents), wallet.Money(max(0, limit-spent)), wallet.Money(limit)).
			With(map[string]int64{"required_cents": cents, "spent_cents": spent, "spend_limit_cents": limit})
	}
	return nil
}

// Cancel ends a job that no worker has claimed and gives its money back.
// Cancelling a cancelled job again returns it as it is. Errors:
// render_not_found, render_not_cancellable.
func (j *Jobs) Cancel(ctx context.Context, workspaceID, jobID string) (Object, error) {
	var out Object
	err := j.DB.Write(ctx, func(tx *db.Tx) error {
		job, err := lock(ctx, tx, jobID)
		if err != nil {
			return err
		}
		if job.WorkspaceID != workspaceID {
			return notFound(jobID)
		}
		status := Status(job.Status)
		if status != Cancelled {
			if !status.Cancellable() {
				return fault.New(fault.RenderNotCancellable, "The render is %s; it can be cancelled only before a worker claims it.", status)
			}
			if err := j.cancel(ctx, tx, job, cancelRequested); err != nil {
				return err
			}
		}
		out, err = j.object(ctx, tx, jobID)
		return err
	})
	return out, err
}

// cancelRequested is the cancel_reason of a job that its owner cancelled.
const cancelRequested = "requested"

func (j *Jobs) cancel(ctx context.Context, tx *db.Tx, job query.Job, reason string) error {
	if err := change(ctx, tx, job.JobID, Status(job.Status), Cancelled); err != nil {
		return err
	}
	if err := tx.JobCancelled(ctx, query.JobCancelledParams{Reason: reason, Now: tx.Now, JobID: job.JobID}); err != nil {
		return fmt.Errorf("cancel job: %w", err)
	}
	return j.giveBack(ctx, tx, job)
}

// fail ends a locked job that cannot be finished and gives its money back.
func (j *Jobs) fail(ctx context.Context, tx *db.Tx, job query.Job, code fault.Code, message string) error {
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
func (j *Jobs) giveBack(ctx context.Context, tx *db.Tx, job query.Job) error {
	if err := wallet.Release(ctx, tx, job.WorkspaceID, job.JobID, job.PriceCents); err != nil {
		return err
	}
	for queue, subject := range map[string]string{
		FrameQueue: job.JobID, PackageQueue: job.JobID, lease.ExpireQueue: submitWindow(job.JobID),
	} {
		if err := lease.Drop(ctx, tx, queue, subject); err != nil {
			return err
		}
	}
	if err := leave(ctx, tx, job); err != nil {
		return err
	}
	if err := clearFramesLater(ctx, tx, job.JobID); err != nil {
		return err
	}
	return j.tell(ctx, tx, job.JobID)
}
