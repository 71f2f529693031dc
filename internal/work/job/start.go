package job

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/lease"
	"svc.example/internal/ground/links"
	"svc.example/internal/ground/numbers"
	"svc.example/internal/work/alert"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/framecheck"
	"svc.example/internal/work/freeze"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/quote"
	"svc.example/internal/work/wallet"
	"svc.example/internal/work/webhook"
)

// Flow is the API that created a job (decisions 5). It decides which routes the job's
// links name, and whether the job may wait for its submit.
type Flow string

// Flows.
const (
	FlowJobAPI   Flow = "job_api"
	FlowPublicV1 Flow = "public_v1"
)

// JobsPath is where a flow's jobs are read, below the public address. An unknown flow
// counts as the Job API.
func (f Flow) JobsPath() string {
	if f == FlowPublicV1 {
		return links.RendersPath
	}
	return links.NodeJobsPath
}

// StartRequest contains what the spend boundary needs.
type StartRequest struct {
	Principal identity.Principal // who spends, and for which workspace
	// UploadID and QuoteID name the locked quote; the quote must be the upload's.
	UploadID string
	QuoteID  string
	Flow     Flow
	// MaxPriceCents is the most that the job may cost, in cents; nil means that the
	// quote is enough. Starting a quote again ignores it: the money is reserved
	// already.
	MaxPriceCents *int64
	// Webhook receives the job's end, from webhook.Hooks.Target; the zero value means no
	// webhook. Starting a quote again ignores it: the job keeps its first one.
	Webhook webhook.Target
	// Tags are the job's, from ReadTags; nil means those of the job that it renders again.
	// Starting a quote again ignores them.
	Tags []string
}

// Start takes a locked quote and reserves its price: the spend boundary. It runs in
// the caller's transaction, where the caller keeps what it answers: a webhook secret
// is in the Object only when this call made the job. Starting a quote again returns
// the job it has become; nothing is reserved twice. Errors: upload_not_found,
// quote_not_found, quote_expired, quote_not_qualified, price_above_max,
// insufficient_funds, spend_limit_reached, workspace_frozen, not_accepting_jobs,
// insufficient_scope, and insufficient_role if the person has just left the workspace.
func (j *Jobs) Start(ctx context.Context, tx *db.Tx, r StartRequest) (Object, error) {
	if err := r.Principal.Require(identity.ScopeSpend); err != nil {
		return Object{}, err
	}
	q, err := quote.Take(ctx, tx, r.Principal.WorkspaceID, r.UploadID, r.QuoteID)
	if err != nil {
		return Object{}, err
	}
	// A quote that a job has accepted leads to that job, in whatever state it is.
	if q.JobID != "" {
		return j.objectOf(ctx, tx, r.Principal.WorkspaceID, q.JobID)
	}
	return j.begin(ctx, tx, r, q, Queued)
}

// Hold makes a job of a locked quote and reserves its price, in the caller's
// transaction, and leaves it to wait for Submit: the older flow's spend
// boundary. Errors: as Start.
func (j *Jobs) Hold(ctx context.Context, tx *db.Tx, r StartRequest, q quote.Quote) (Object, error) {
	if err := r.Principal.Require(identity.ScopeSpend); err != nil {
		return Object{}, err
	}
	return j.begin(ctx, tx, r, q, AwaitingSubmit)
}

// begin makes a job and returns its view, with what only the answer to its start says: the
// webhook's secret if the service made it, and that the wallet runs low.
func (j *Jobs) begin(ctx context.Context, tx *db.Tx, r StartRequest, q quote.Quote, status Status) (Object, error) {
	jobID, secret, err := j.create(ctx, tx, r, q, status)
	if err != nil {
		return Object{}, err
	}
	left, err := wallet.Get(ctx, tx, r.Principal.WorkspaceID)
	if err == nil {
		err = alert.Spent(ctx, tx, r.Principal.WorkspaceID, left, q.PriceCents)
	}
	if err != nil {
		return Object{}, err
	}
	o, err := j.objectOf(ctx, tx, r.Principal.WorkspaceID, jobID)
	o.WebhookSecret, o.LowBalance = secret, lowFor(q.PriceCents, left)
	return o, err
}

// LowBalance says that a balance does not cover another job like the workspace's newest;
// nil when it does, or when there is none.
func LowBalance(ctx context.Context, tx *db.Tx, workspaceID string, has wallet.Balance) (*wallet.Shortage, error) {
	cents, err := tx.JobNewestPrice(ctx, workspaceID)
	if db.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the newest job's price: %w", err)
	}
	return lowFor(cents, has), nil
}

// lowFor says that a balance does not cover a price; nil when it does.
func lowFor(cents int64, has wallet.Balance) *wallet.Shortage {
	if has.AvailableCents >= cents {
		return nil
	}
	return &wallet.Shortage{RequiredCents: cents, AvailableCents: has.AvailableCents}
}

// create writes a job, reserves its price and arms its webhook. It returns the
// webhook's secret if the service made it. It enqueues the frames of a queued job; for
// one that awaits its submit it schedules the cancellation instead.
//
// The checks that need no write come first. When the wallet refuses, the job's row is
// written already: the caller gives its transaction up on any error.
func (j *Jobs) create(ctx context.Context, tx *db.Tx, r StartRequest, q quote.Quote, status Status) (jobID, secret string, err error) {
	if !j.Accepts() {
		return "", "", notAccepting()
	}
	if j.Refusal != nil {
		if err := j.Refusal(ctx, tx, q); err != nil {
			return "", "", err
		}
	}
	if err := freeze.Require(ctx, tx, r.Principal.WorkspaceID); err != nil {
		return "", "", err
	}
	if err := q.Startable(); err != nil {
		return "", "", err
	}
	if err := WithinMax(q.PriceCents, r.MaxPriceCents); err != nil {
		return "", "", err
	}
	// The key's row is locked from here on, so that two starts by one key cannot both
	// use up what is left of its limit.
	if err := withinLimit(ctx, tx, r.Principal, q.PriceCents); err != nil {
		return "", "", err
	}
	jobID = id.New(id.Job)
	// A job that awaits its submit has no time of submission yet; 0 stands for none.
	submitted := tx.Now
	if status == AwaitingSubmit {
		submitted = 0
	}
	row := query.JobCreateParams{
		JobID: jobID, WorkspaceID: r.Principal.WorkspaceID, KeyID: r.Principal.Credential.KeyID, Flow: string(r.Flow), Status: string(status),
		UploadID: q.UploadID, QuoteID: q.QuoteID, Filename: q.Filename, InputSha256: q.InputSHA256, InputSizeBytes: q.InputSizeBytes,
		FrameStart: int64(q.FrameStart), FrameEnd: int64(q.FrameEnd), FrameStep: int64(q.FrameStep),
		FrameCount: int64(q.FrameCount), Frames: q.Gaps(), Settings: q.Settings.Text(), PricingVersion: q.PricingVersion, PriceCents: q.PriceCents,
		CreatedAt: tx.Now, SubmittedAt: submitted, UpdatedAt: tx.Now, Findings: framecheck.Findings{}.Stored(),
		RequestID: fault.RequestID(ctx), StartedBy: r.Principal.Credential.Person(),
	}
	if q.RerenderOf != nil {
		row.RerenderOf = *q.RerenderOf
	}
	if row.Tags, err = tagsAtStart(ctx, tx, r, q); err != nil {
		return "", "", err
	}
	row.Search = searchText(row.Filename, row.Tags)
	row.RowSum = jobRows.Of(row)
	if err := tx.JobCreate(ctx, row); err != nil {
		return "", "", fmt.Errorf("create job: %w", err)
	}
	if err := j.takeOver(ctx, tx, jobID, q.Reused); err != nil {
		return "", "", err
	}
	if err := unlessFree(wallet.Reserve)(ctx, tx, r.Principal.WorkspaceID, jobID, q.PriceCents); err != nil {
		return "", "", err
	}
	for _, within := range []func(context.Context, *db.Tx, identity.Principal, int64) error{withinMonth, withinDay} {
		if err := within(ctx, tx, r.Principal, q.PriceCents); err != nil {
			return "", "", err
		}
	}
	j.tell(tx, slog.LevelInfo, "job created", jobID, r.Principal.WorkspaceID, "status", status, "frames", q.FrameCount, "price_cents", q.PriceCents)
	if err := quote.Accept(ctx, tx, q.QuoteID, jobID); err != nil {
		return "", "", err
	}
	if secret, err = r.Webhook.Attach(ctx, tx, r.Principal.WorkspaceID, jobID); err != nil {
		return "", "", err
	}
	tx.Announce(Topic(jobID))
	if status == AwaitingSubmit {
		return jobID, secret, lease.Add(ctx, tx, lease.ExpireQueue, expiry(ExpireSubmit, jobID), 0, tx.Time().Add(contract.SubmitWindow))
	}
	return jobID, secret, enqueue(ctx, tx, jobID)
}

// enqueue puts the frames of a queued job on the queue, without those that it has taken over.
// A job that has taken over all of them needs no worker, and is packed.
func enqueue(ctx context.Context, tx *db.Tx, jobID string) error {
	record, err := Read(ctx, tx, jobID)
	if err != nil {
		return err
	}
	span, err := spanOf(record.FrameStart, record.FrameEnd, record.FrameStep, record.FrameCount, record.Frames)
	if err != nil {
		return fmt.Errorf("read the frames of %s: %w", jobID, err)
	}
	if record.FramesReused == record.FrameCount {
		if _, _, err := BeginRendering(ctx, tx, jobID); err != nil {
			return err
		}
		return BeginPackaging(ctx, tx, record)
	}
	job := ForDispatch(record)
	if err := readNeeds(ctx, tx, &job, span.First); err != nil {
		return err
	}
	if record.FramesReused == 0 {
		return dispatch.Enqueue(ctx, tx, job, span)
	}
	return enqueueRest(ctx, tx, record, job)
}

// readNeeds fills what the scene of a job asks of workers. Where its frames depend on those
// before, a worker plays from the scene's first one on, or the job's where that is lower.
func readNeeds(ctx context.Context, tx *db.Tx, job *dispatch.Job, first int64) error {
	scene, err := SceneOf(ctx, tx, job.JobID)
	if err != nil {
		return err
	}
	job.Needs = scene.Needs()
	if scene.Plays() {
		job.PlaysFrom = new(min(first, int64(scene.FrameStart)))
	}
	return nil
}

// SceneOf reads what inspect found out about the scene of a job, as it was chosen.
func SceneOf(ctx context.Context, tx *db.Tx, jobID string) (scene quote.Scene, err error) {
	row, err := tx.JobScene(ctx, jobID)
	if err == nil {
		err = json.Unmarshal([]byte(row.Scene), &scene)
	}
	if err != nil {
		return scene, fmt.Errorf("read the scene of %s: %w", jobID, err)
	}
	return scene, nil
}

// FramesOf is the range of a job's frames: first, first+step and so on up to last has all
// of them, though where they are a list not only them.
func FramesOf(r Record) (first, last, step int, err error) {
	all, err := quote.ListOf(r.FrameStart, r.FrameEnd, r.FrameStep, r.FrameCount, r.Frames)
	if err != nil {
		return 0, 0, 0, fmt.Errorf("read the frames of %s: %w", r.JobID, err)
	}
	step = int(r.FrameStep)
	if r.Frames != "" {
		step = 0
		for _, n := range all[1:] {
			for step, n = n-all[0], step; n != 0; {
				step, n = n, step%n
			}
		}
	}
	return all[0], all[len(all)-1], max(1, step), nil
}

// spanOf is the frames of a job according to its row.
func spanOf(start, end, step, count int64, list string) (dispatch.Span, error) {
	span := dispatch.Span{First: start, Step: step, Count: count}
	frames, err := quote.ListOf(start, end, step, count, list)
	if err != nil || list == "" {
		return span, err
	}
	for _, n := range frames {
		span.Items = append(span.Items, int64(n))
	}
	return span, nil
}

// notAccepting asks the caller to come back in a minute: an operator has switched
// starts off, and nothing was spent (decisions 11).
func notAccepting() error {
	return fault.New(fault.NotAcceptingJobs, "The service is not accepting new jobs at the moment.").After(time.Minute)
}

// WithinMax refuses a price above the most that a caller allows; nil allows any. Errors:
// price_above_max.
func WithinMax(priceCents int64, most *int64) error {
	if most == nil || priceCents <= *most {
		return nil
	}
	return fault.New(fault.PriceAboveMax, "The quote is %s, but max_price_cents allows at most %s.", numbers.Dollars(priceCents), numbers.Dollars(*most)).
		With(map[string]int64{"price_cents": priceCents, "max_price_cents": *most})
}
