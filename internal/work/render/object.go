package render

import (
	"context"
	"fmt"
	"math"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
)

// Object is a job as callers see it (spec 2.6 RenderObject).
type Object struct {
	_ struct{} `additionalProperties:"true"` // it may gain members (spec 2.6)

	OK                bool           `json:"ok" const:"true"`
	JobID             string         `json:"job_id" doc:"Begins with JOB-."`
	WorkspaceID       string         `json:"workspace_id"`
	Flow              Flow           `json:"flow" enum:"job_api,public_v1"`
	Status            Status         `json:"status" enum:"awaiting_submit,queued,rendering,packaging,completed,failed,cancelled"`
	State             Status         `json:"state" doc:"Always equal to status." enum:"awaiting_submit,queued,rendering,packaging,completed,failed,cancelled"`
	WaitingReason     *WaitingReason `json:"waiting_reason" doc:"Why no frame of the job is being rendered right now." enum:"no_worker_online,workers_busy"`
	QueuePosition     *int           `json:"queue_position" doc:"1 = next; 1000 stands for 1000 or more; null unless queued."`
	Renderer          string         `json:"renderer" doc:"blender; synthetic where a frame was painted for a test and not rendered."`
	Application       string         `json:"application"`
	Version           string         `json:"version" doc:"The renderer's version; once a frame is in, that of the Blender that really rendered."`
	Engine            string         `json:"engine"`
	RenderDevice      *string        `json:"render_device" doc:"What was really used; null before." enum:"GPU,CPU"`
	DeviceName        *string        `json:"device_name"`
	Filename          string         `json:"filename"`
	InputSHA256       string         `json:"input_sha256"`
	InputSizeBytes    int64          `json:"input_size_bytes"`
	FrameStart        int            `json:"frame_start"`
	FrameEnd          int            `json:"frame_end"`
	FrameStep         int            `json:"frame_step"`
	FrameCount        int            `json:"frame_count"`
	FramesCompleted   int            `json:"frames_completed"`
	ProgressPercent   float64        `json:"progress_percent" minimum:"0" maximum:"100"`
	ETASeconds        *float64       `json:"eta_seconds" doc:"Seconds until the last frame, from the frames so far; null when unknown."`
	ETARange          *ETARange      `json:"eta_range" doc:"Where eta_seconds lies in eight cases of ten; null when unknown."`
	RenderSeconds     float64        `json:"render_seconds" doc:"Sum over the frames rendered so far."`
	QuoteID           string         `json:"quote_id"`
	UploadID          string         `json:"upload_id"`
	PriceCents        int64          `json:"price_cents"`
	ReservedCents     int64          `json:"reserved_cents" doc:"Set aside in the wallet right now."`
	ChargedCents      int64          `json:"charged_cents"`
	Currency          string         `json:"currency"`
	Cancellable       bool           `json:"cancellable"`
	WebhookConfigured bool           `json:"webhook_configured" doc:"Whether the job's end is told to anybody."`
	WebhookSecret     string         `json:"webhook_secret,omitempty" doc:"Only in the answer that creates the job, and only when the service made it."`
	CreatedAt         time.Time      `json:"created_at"`
	SubmittedAt       *time.Time     `json:"submitted_at"`
	ClaimedAt         *time.Time     `json:"claimed_at"`
	CompletedAt       *time.Time     `json:"completed_at"`
	FailedAt          *time.Time     `json:"failed_at"`
	CancelledAt       *time.Time     `json:"cancelled_at"`
	CancelReason      *string        `json:"cancel_reason"`
	UpdatedAt         time.Time      `json:"updated_at"`
	Failure           *JobFailure    `json:"failure"`
	ArtifactExpiresAt *time.Time     `json:"artifact_expires_at" doc:"When the artifact is removed; in the past, it is gone."`
	DownloadURL       *string        `json:"download_url" doc:"Authorises itself for one hour; made anew at each read; null until completed."`
	ReceiptURL        *string        `json:"receipt_url"`
	ProofURL          *string        `json:"proof_url"`
}

// WaitingReason says why a job waits.
type WaitingReason string

// Reasons to wait.
const (
	NoWorkerOnline WaitingReason = "no_worker_online"
	WorkersBusy    WaitingReason = "workers_busy"
)

// JobFailure says why a job failed.
type JobFailure struct {
	Code            fault.Code `json:"code"`
	Message         string     `json:"message"`
	Retryable       bool       `json:"retryable"`
	SuggestedAction string     `json:"suggested_action"`
}

// WorkerOnline is how recently a worker must have been heard to count as
// online: longer than a long poll.
const WorkerOnline = 90 * time.Second

// farthestPosition is the last queue_position that is counted: who waits behind a
// thousand others asks as often as who is next, and must not cost more.
const farthestPosition = 1000

// Get reads a job of a workspace; render_not_found when it has none.
func (j *Jobs) Get(ctx context.Context, workspaceID, jobID string) (out Object, err error) {
	err = j.DB.ReadStatement(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		out, err = j.objectOf(ctx, tx, workspaceID, jobID)
		return err
	})
	return out, err
}

// objectOf makes the view of a job of a workspace; another workspace's is
// render_not_found.
func (j *Jobs) objectOf(ctx context.Context, tx *db.Tx, workspaceID, jobID string) (Object, error) {
	o, err := j.object(ctx, tx, jobID)
	if db.IsNotFound(err) || (err == nil && o.WorkspaceID != workspaceID) {
		return Object{}, notFound(jobID)
	}
	return o, err
}

// object makes the view of a job, with what its leases and the workers say of
// it at one moment, that of its one statement; should a second follow, for when
// the job will be done, it reads no frames that came since.
func (j *Jobs) object(ctx context.Context, tx *db.Tx, jobID string) (Object, error) {
	view, err := tx.JobView(ctx, query.JobViewParams{JobID: jobID, Queue: FrameQueue, Since: tx.Now - WorkerOnline.Microseconds(), Now: tx.Now, Farthest: farthestPosition})
	if err != nil {
		return Object{}, fmt.Errorf("read job: %w", err)
	}
	job := view.Job
	status := Status(job.Status)
	o := Object{
		OK: true, JobID: job.JobID, WorkspaceID: job.WorkspaceID, Flow: Flow(job.Flow), Status: status, State: status,
		Renderer: contract.RendererID, Application: contract.Application, Version: contract.BlenderVersion, Engine: contract.Engine,
		RenderDevice: optional(job.RenderDevice), DeviceName: optional(job.DeviceName),
		Filename: job.Filename, InputSHA256: job.InputSha256, InputSizeBytes: job.InputSizeBytes,
		FrameStart: int(job.FrameStart), FrameEnd: int(job.FrameEnd), FrameStep: int(job.FrameStep), FrameCount: int(job.FrameCount),
		FramesCompleted: int(job.FramesCompleted), ProgressPercent: percent(float64(job.FramesCompleted), job.FrameCount),
		RenderSeconds: seconds(job.RenderUs), QuoteID: job.QuoteID, UploadID: job.UploadID,
		PriceCents: job.PriceCents, ChargedCents: job.ChargedCents, Currency: contract.Currency, Cancellable: status.Cancellable(), WebhookConfigured: view.Told,
		CreatedAt: db.Time(job.CreatedAt), SubmittedAt: moment(job.SubmittedAt), ClaimedAt: moment(job.ClaimedAt),
		CompletedAt: moment(job.CompletedAt), FailedAt: moment(job.FailedAt), CancelledAt: moment(job.CancelledAt),
		CancelReason: optional(job.CancelReason), UpdatedAt: db.Time(job.UpdatedAt),
	}
	if job.BlenderVersion != "" {
		o.Version = job.BlenderVersion
	}
	if job.Renderer == contract.SyntheticRenderer {
		o.Renderer, o.Application, o.Engine = contract.SyntheticRenderer, contract.SyntheticApplication, contract.SyntheticEngine
	}
	if !status.Terminal() {
		o.ReservedCents = job.PriceCents
	}
	if job.FailureCode != "" {
		row := fault.Lookup(fault.Code(job.FailureCode))
		o.Failure = &JobFailure{Code: row.Code, Message: job.FailureMessage, Retryable: row.Retryable, SuggestedAction: row.Action}
	}
	if status == Completed {
		j.link(&o, job, tx.Time())
	}
	if status == Queued || status == Rendering {
		return o, live(ctx, tx, view, &o)
	}
	return o, nil
}

// link fills what a completed job points to.
func (j *Jobs) link(o *Object, job query.Job, now time.Time) {
	expires := db.Time(job.CompletedAt).Add(j.ArtifactLife)
	if job.ArtifactRemovedAt != 0 {
		expires = db.Time(job.ArtifactRemovedAt)
	} else {
		download := j.Links.Download(job.JobID, now.Add(contract.DownloadLifetime))
		o.DownloadURL = &download
	}
	o.ArtifactExpiresAt = &expires
	receipt, proof := j.Links.JobReceipt(o.Flow.JobsPath(), job.JobID), j.Links.JobProof(o.Flow.JobsPath(), job.JobID)
	o.ReceiptURL, o.ProofURL = &receipt, &proof
}

// live fills what moves while a job waits and renders.
func live(ctx context.Context, tx *db.Tx, view query.JobViewRow, o *Object) error {
	begun := float64(view.Progress) / 1000
	o.ProgressPercent = percent(float64(view.Job.FramesCompleted)+begun, view.Job.FrameCount)
	if o.Status == Queued {
		position := int(view.Position)
		o.QueuePosition = &position
	}
	if view.Held > 0 {
		return expect(ctx, tx, view.Job, begun, o)
	}
	reason := WorkersBusy
	if !view.Online {
		reason = NoWorkerOnline
	}
	o.WaitingReason = &reason
	return nil
}

// expect fills when the job will be done. Nobody can say it of one that waits.
func expect(ctx context.Context, tx *db.Tx, job query.Job, begun float64, o *Object) error {
	times, err := tx.FrameTimes(ctx, query.FrameTimesParams{JobID: job.JobID, Seq: job.Seq, Max: etaFrames})
	if err != nil {
		return fmt.Errorf("read the times of frames: %w", err)
	}
	accepted := make([]time.Time, 0, len(times))
	for _, us := range times {
		accepted = append(accepted, db.Time(us))
	}
	left := float64(job.FrameCount-job.FramesCompleted) - begun
	if eta, span, ok := forecast(tx.Time(), db.Time(job.ClaimedAt), accepted, job.FramesCompleted, begun, left); ok {
		o.ETASeconds, o.ETARange = &eta, &span
	}
	return nil
}

func percent(part float64, whole int64) float64 {
	return min(100, math.Round(part/float64(whole)*1000)/10)
}

func seconds(us int64) float64 { return float64(us) / 1e6 }

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func moment(us int64) *time.Time {
	if us == 0 {
		return nil
	}
	t := db.Time(us)
	return &t
}
