package job

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/links"
	"svc.example/internal/render/settings"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/framecheck"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/quote"
	"svc.example/internal/work/wallet"
)

// Object is a job as callers see it (spec 2.6 RenderObject, decisions 5). It is also
// the data of the job's event, so what it shows when the job ends is what receivers
// get.
//
// Pointers are null in JSON where the value is unknown or does not apply. Money is in
// cents, times are UTC, durations are seconds.
type Object struct {
	_ struct{} `additionalProperties:"true"` // it may gain members (spec 2.6)

	OK          bool   `json:"ok" const:"true"`
	JobID       string `json:"job_id" doc:"Begins with JOB-."`
	WorkspaceID string `json:"workspace_id"`
	Test        bool   `json:"test,omitempty" doc:"True for a job of test mode: nothing is rendered, and nobody pays. Absent otherwise."`
	Flow        Flow   `json:"flow" enum:"job_api,public_v1"`
	Status      Status `json:"status" enum:"awaiting_submit,queued,rendering,packaging,completed,failed,cancelled"`
	State       Status `json:"state" doc:"Always equal to status." enum:"awaiting_submit,queued,rendering,packaging,completed,failed,cancelled"`
	// Set only while the job is queued, or rendering with no frame in a worker's hands.
	WaitingReason *WaitingReason   `json:"waiting_reason" doc:"Why no worker renders a frame of the job: none is online, those online say that they cannot work, none of them may take one, all have another Blender version or other denoising than the frames so far, none has all tags that the workspace requires, all that may render other frames, its workspace has as many frames in workers' hands as it may have, or the job is paused. Null while a frame is rendered, and while a worker is about to take one." enum:"no_worker_online,workers_unable,no_capable_worker,no_matching_blender,no_tagged_worker,workers_busy,workspace_limit,paused"`
	QueuePosition *int             `json:"queue_position" doc:"The job's place among the queued jobs in the order in which workers take their first frames, as the turns stand now. 1 = next; 1000 stands for 1000 or more; null unless queued, and while it is paused."`
	PausedBy      *dispatch.Pauser `json:"paused_by" doc:"Set while the job is paused, by its workspace or by an operator. No new frame is rendered until it is resumed; frames in workers' hands are finished. Null otherwise." enum:"workspace,operator"`
	Priority      *int             `json:"priority" doc:"Its priority among the jobs of its workspace: jobs with a higher one come first. 50 unless it was changed; null unless queued or rendering." minimum:"1" maximum:"100"`
	// The contract's renderer until a frame has come in, then what really rendered.
	Renderer       string            `json:"renderer" doc:"blender; synthetic where a frame was painted for a test and not rendered."`
	Application    string            `json:"application"`
	Version        string            `json:"version" doc:"The renderer's version; once a frame is in, that of the Blender that really rendered."`
	Engine         string            `json:"engine"`
	RenderDevice   *string           `json:"render_device" doc:"What was really used; null before." enum:"GPU,CPU"`
	DeviceName     *string           `json:"device_name"`
	Filename       string            `json:"filename"`
	InputSHA256    string            `json:"input_sha256"`
	InputSizeBytes int64             `json:"input_size_bytes"`
	FrameStart     int               `json:"frame_start"`
	FrameEnd       int               `json:"frame_end"`
	FrameStep      int               `json:"frame_step"`
	FrameCount     int               `json:"frame_count"`
	FrameList      string            `json:"frame_list" doc:"The frames to render, such as 1-20, 10-100:5 or 3,7-9. Of a list with gaps, frame_start and frame_end are its ends and frame_step is 1."`
	Settings       settings.Settings `json:"settings" doc:"What was chosen of the file, as in the quote; a member that is absent is as in the file."`
	Tags           []string          `json:"tags" nullable:"false" maxItems:"10" doc:"What the workspace calls the job, in alphabetical order; at most 10. Each has at most 32 characters, in lower case."`
	RerenderOf     *string           `json:"rerender_of" doc:"The job whose frames these are once more; null for none."`
	// Read from other rows, and therefore not of an event's data.
	StartedBy *identity.Actor `json:"started_by,omitempty" doc:"Who started the job. Absent from the data of webhook events, which are kept as they are."`
	// Accepted frames. The number falls by one when an accepted frame is rendered
	// again.
	FramesCompleted int                `json:"frames_completed"`
	ProgressPercent float64            `json:"progress_percent" minimum:"0" maximum:"100"`
	ETASeconds      *float64           `json:"eta_seconds" doc:"Seconds until the last frame is in, the wait for other jobs included; null when unknown, never 0."`
	ETARange        *dispatch.ETARange `json:"eta_range" doc:"Where the end lies in eight cases of ten; null when unknown."`
	ETABasis        *EstimateBasis     `json:"eta_basis" doc:"What eta_seconds rests on: three or more frames of the job, free previews of its upload, the workspace's last completed job over the same file or an edited one, or fewer frames of the job; null when it is." enum:"job_frames,preview,similar_scenes,first_frames"`
	// Facts about the frames that the estimate is based on.
	SecondsPerFrameLow  *float64 `json:"seconds_per_frame_low" doc:"The shortest render time among the last 32 frames, or the first ones of a similar job where fewer than three are in; null when none is known."`
	SecondsPerFrameHigh *float64 `json:"seconds_per_frame_high" doc:"The longest render time among them; null when none is known."`
	RenderSeconds       float64  `json:"render_seconds" doc:"Sum over the frames rendered so far."`
	QuoteID             string   `json:"quote_id"`
	UploadID            string   `json:"upload_id"`
	PriceCents          int64    `json:"price_cents"`
	// The price while the job lives and 0 after its end, when ChargedCents has the
	// price of a completed job and 0 for any other.
	ReservedCents     int64  `json:"reserved_cents" doc:"Set aside in the wallet right now."`
	ChargedCents      int64  `json:"charged_cents"`
	Currency          string `json:"currency"`
	Cancellable       bool   `json:"cancellable"`
	WebhookConfigured bool   `json:"webhook_configured" doc:"Whether the job's end is told to anybody."`
	// Filled by the caller of the transaction that makes the job; never read back.
	WebhookSecret string `json:"webhook_secret,omitempty" doc:"Only in the answer that creates the job, and only when the service made it."`
	// Filled likewise.
	LowBalance *wallet.Shortage `json:"low_balance,omitempty" doc:"Only in the answer that creates the job, and only when what is left in the wallet does not cover another job like it."`
	CreatedAt  time.Time        `json:"created_at"`
	// Each of these is set once, when the job reaches the state.
	SubmittedAt  *time.Time  `json:"submitted_at"`
	ClaimedAt    *time.Time  `json:"claimed_at"`
	CompletedAt  *time.Time  `json:"completed_at"`
	FailedAt     *time.Time  `json:"failed_at"`
	CancelledAt  *time.Time  `json:"cancelled_at"`
	CancelReason *string     `json:"cancel_reason"`
	UpdatedAt    time.Time   `json:"updated_at"`
	Failure      *JobFailure `json:"failure"`
	// Findings about accepted frames that a person should check. They never fail a job.
	Findings framecheck.Findings `json:"findings" nullable:"false" doc:"What a person should look at in the accepted frames, the worst first; empty for nothing. See the table of findings."`
	// The links of a completed job. Receipt and proof stay when the artifact is
	// removed.
	ArtifactExpiresAt *time.Time `json:"artifact_expires_at" doc:"When the artifact is removed; in the past, it is gone."`
	DownloadURL       *string    `json:"download_url" doc:"Valid for one hour without a key; each read returns a new URL; null until the job is completed."`
	ReceiptURL        *string    `json:"receipt_url"`
	ProofURL          *string    `json:"proof_url"`
	// Also set while a job runs, once it has a frame.
	ContactSheetURL *string `json:"contact_sheet_url" doc:"The frames in one picture, for the key that read this; null while there is no frame to show, and once the artifact is removed."`
	LoopURL         *string `json:"loop_url" doc:"The frames as a small loop that plays, for the key that read this; null when contact_sheet_url is."`
	MovieURL        *string `json:"movie_url" doc:"The frames as the movie that the scene writes, for the key that read this: it answers 409 movie_not_ready until a worker has encoded it. Null where the scene's output is no movie, until the job is completed, and once the artifact is removed."`
}

// JobFailure explains why a job failed. Retryable and SuggestedAction come from the
// table of codes at each read, so they improve for old jobs too.
type JobFailure struct {
	Code            fault.Code `json:"code"`
	Message         string     `json:"message"`
	Retryable       bool       `json:"retryable"`
	SuggestedAction string     `json:"suggested_action"`
}

// Get reads a job of a workspace; render_not_found when it has none. It is the most
// frequent read, so it runs without a transaction.
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
	o, err := j.Object(ctx, tx, jobID)
	if db.IsNotFound(err) || (err == nil && o.WorkspaceID != workspaceID) {
		return Object{}, notFound(jobID)
	}
	return o, err
}

// Object makes the view of a job with the state of its leases, all of one moment, because
// one statement reads them. A second statement, for the estimate, leaves out frames that
// were accepted since.
func (j *Jobs) Object(ctx context.Context, tx *db.Tx, jobID string) (Object, error) {
	view, err := readView(ctx, tx, jobID)
	if err != nil {
		return Object{}, fmt.Errorf("read job: %w", err)
	}
	var around surroundings
	if around, err = j.surround(ctx, tx, []query.JobViewsRow{view}); err != nil {
		return Object{}, err
	}
	if foreseeable(view) {
		rows, err := tx.FrameTimes(ctx, query.FrameTimesParams{JobID: jobID, Seq: view.Job.Seq, Max: dispatch.ETAFrames})
		if err != nil {
			return Object{}, fmt.Errorf("read the times of frames: %w", err)
		}
		for _, r := range rows {
			around.accepted[jobID] = append(around.accepted[jobID], acceptedAt(r.AcceptedAt, r.RenderUs))
		}
	}
	return j.show(view, around, tx.Time()), nil
}

// readView reads what the rows of a job say of it.
func readView(ctx context.Context, tx *db.Tx, jobID string) (query.JobViewsRow, error) {
	views, err := viewsOf(ctx, tx, jobID)
	if err == nil && len(views) == 0 {
		err = sql.ErrNoRows
	}
	if err != nil {
		return query.JobViewsRow{}, err
	}
	return views[0], nil
}

// show makes the view of a job from what was read. It reads nothing itself, so that a
// list shows a job exactly as a single read does.
func (j *Jobs) show(view query.JobViewsRow, around surroundings, now time.Time) Object {
	o := shown(view.Job)
	o.Test, o.WebhookConfigured = j.Test, view.Notified
	o.StartedBy = identity.ActorOf(view.Job.StartedBy, view.PersonEmail, view.Job.KeyID, view.KeyName)
	switch o.Status {
	case Completed:
		j.link(&o, view, now)
	case Queued, Rendering:
		live(view, around, now, &o)
	}
	if o.FramesCompleted > 0 && slices.Contains([]Status{Rendering, Packaging, Completed}, o.Status) && view.Job.ArtifactRemovedAt == 0 {
		o.ContactSheetURL, o.LoopURL = new(string), new(string)
	}
	return o.Through(j.Links, o.Flow.JobsPath())
}

// Through returns the view with its links below jobs, which the reader's credential must
// open: links.RendersPath for account keys, links.NodeJobsPath for agent keys and sessions.
// Without it they lead to the API of the flow that made the job.
func (o Object) Through(l links.Links, jobs string) Object {
	for link, at := range map[**string]string{
		&o.ReceiptURL: l.JobReceipt(jobs, o.JobID), &o.ProofURL: l.JobProof(jobs, o.JobID),
		&o.ContactSheetURL: l.JobContactSheet(jobs, o.JobID), &o.LoopURL: l.JobLoop(jobs, o.JobID),
		&o.MovieURL: l.JobMovie(jobs, o.JobID),
	} {
		if *link != nil {
			*link = &at
		}
	}
	return o
}

// shown is the part of the view that the job's row alone gives.
func shown(job Record) Object {
	status := Status(job.Status)
	o := Object{
		OK: true, JobID: job.JobID, WorkspaceID: job.WorkspaceID, Flow: Flow(job.Flow), Status: status, State: status,
		Renderer: contract.RendererID, Application: contract.Application, Version: contract.BlenderVersion, Engine: contract.Engine,
		RenderDevice: db.Optional(job.RenderDevice), DeviceName: db.Optional(job.DeviceName),
		Filename: job.Filename, InputSHA256: job.InputSha256, InputSizeBytes: job.InputSizeBytes,
		FrameStart: int(job.FrameStart), FrameEnd: int(job.FrameEnd), FrameStep: int(job.FrameStep), FrameCount: int(job.FrameCount),
		FrameList: quote.ListText(int(job.FrameStart), int(job.FrameEnd), int(job.FrameStep), job.Frames), Tags: tagsOf(job), RerenderOf: db.Optional(job.RerenderOf),
		FramesCompleted: int(job.FramesCompleted), ProgressPercent: percent(float64(job.FramesCompleted), job.FrameCount),
		RenderSeconds: seconds(job.RenderUs), QuoteID: job.QuoteID, UploadID: job.UploadID,
		PriceCents: job.PriceCents, ChargedCents: job.ChargedCents, Currency: contract.Currency, Cancellable: status.Cancellable(),
		CreatedAt: db.Time(job.CreatedAt), SubmittedAt: db.OptionalTime(job.SubmittedAt), ClaimedAt: db.OptionalTime(job.ClaimedAt),
		CompletedAt: db.OptionalTime(job.CompletedAt), FailedAt: db.OptionalTime(job.FailedAt), CancelledAt: db.OptionalTime(job.CancelledAt),
		CancelReason: db.Optional(job.CancelReason), UpdatedAt: db.Time(job.UpdatedAt), Findings: framecheck.ReadFindings(job.Findings),
	}
	o.Settings, _ = settings.Read(job.Settings) // the audit finds what cannot be read
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
	return o
}

// link fills the URLs of a completed job. The download link carries its own signature
// and lives contract.DownloadLifetime from now; without an artifact there is none.
// Receipt and proof stay for ever.
func (j *Jobs) link(o *Object, view query.JobViewsRow, now time.Time) {
	job, expires := view.Job, db.Time(view.ExpiresAt)
	if view.ExpiresAt == 0 { // it is being removed
		expires = db.Time(job.CompletedAt).Add(j.ArtifactLife)
	}
	if job.ArtifactRemovedAt != 0 {
		expires = db.Time(job.ArtifactRemovedAt)
	} else {
		download := j.Links.Download(job.JobID, now.Add(contract.DownloadLifetime))
		o.DownloadURL = &download
	}
	if job.Movie != 0 && job.ArtifactRemovedAt == 0 {
		o.MovieURL = new(string)
	}
	o.ArtifactExpiresAt = &expires
	o.ReceiptURL, o.ProofURL = new(string), new(string) // see Through
}

// live fills what changes while a job waits or renders, without a change of its row.
// Progress counts the parts of frames that are being rendered, in thousandths of a
// frame.
func live(view query.JobViewsRow, around surroundings, now time.Time, o *Object) {
	begun := float64(view.Progress) / 1000
	o.ProgressPercent = percent(float64(view.Job.FramesCompleted)+begun, view.Job.FrameCount)
	o.Cancellable = o.Cancellable || view.Stuck
	o.QueuePosition, o.WaitingReason = around.position(view), around.reason(view)
	o.PausedBy = db.Optional(dispatch.Pauser(view.Paused))
	if view.Priority != 0 {
		o.Priority = new(int(view.Priority))
	}
	around.estimate(view, now, o)
}

// percent rounds to one decimal and never exceeds 100.
func percent(part float64, whole int64) float64 {
	return min(100, math.Round(part/float64(whole)*1000)/10)
}

func roundToTenth(seconds float64) float64 { return math.Round(seconds*10) / 10 }

// seconds converts the rows' microseconds to what the interface uses.
func seconds(us int64) float64 { return float64(us) / 1e6 }
