// Package job keeps the record of each job: its states, what callers see of it, and
// every way from one state to the next.
//
// Start accepts a locked quote, reserves its price and enqueues the frames; the frames
// package counts accepted ones; artifact packs them, and Complete captures the money,
// writes the receipt and changes the state in one transaction.
//
// What always holds: no other package changes a job's state; a state changes only
// along the table in states.go, by one statement that names the state it comes from; a
// terminal state never changes; completed implies artifact, receipt, its leaf in the
// log and capture; for every ended job reserved = captured + released, and one webhook
// event is written. A transaction locks the job's row before its leases, those before the
// turn rows of dispatch, and workers' rows last, so that transactions never deadlock.
//
// The package owns the tables job and receipt. It leaves prices to quote, money to
// wallet, the choice of workers to dispatch, pictures to frames, the ZIP to artifact and
// HTTP to the handlers. Start reading at Jobs, then states.go and start.go; end.go and
// complete.go define how a job ends.
package job

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/quote"
	"svc.example/internal/work/receipt/receiptlog"
	"svc.example/internal/work/receipt/signing"
	"svc.example/internal/work/reuse"
)

// Jobs starts jobs, ends them, and shows them to callers. It keeps nothing in memory but
// a short-lived forecast on the queue and what follows from it, so any number of
// processes may have one. Safe for concurrent use. Every field is required unless it says
// otherwise.
type Jobs struct {
	DB    *db.DB
	Links links.Links
	// Keys signs receipts and checkpoints.
	Keys *signing.Ring
	// Cosigned is the newest checkpoint that enough witnesses have signed, nil before the
	// first; the field is nil without witnesses.
	Cosigned func() *receiptlog.Cosigned
	// Accepting reports whether the service accepts new jobs; nil means always.
	Accepting func() bool
	// Refusal is called before a job is made from a quote, and its error is the answer;
	// nil refuses nothing. Test mode uses it to simulate refusals that otherwise need
	// another workspace.
	Refusal func(ctx context.Context, tx *db.Tx, q quote.Quote) error
	// Taken puts frames of earlier jobs into one that is made of a quote with reuse, which is
	// not on a queue yet; nil where no quote has such.
	Taken func(ctx context.Context, tx *db.Tx, job Record, found reuse.Found) error
	// Sampled is told of a job with reused frames that completes; nil tells nobody.
	Sampled func(ctx context.Context, tx *db.Tx, record Record) error
	// MostReused bounds the frames that a workspace has taken over and that are kept.
	MostReused Reused
	// Test marks jobs, receipts and events as those of test mode.
	Test bool
	// ArtifactLife is how long an artifact is kept after completion:
	// contract.ArtifactRetention unless the operator sets another time, for all workspaces
	// or for one. A change counts for jobs that complete later.
	ArtifactLife time.Duration
	// NoticePause is the shortest time between two mails to a person about jobs that ended.
	NoticePause time.Duration
	// Queue predicts which job comes when; nil reads the queue again for each view of a
	// waiting job.
	Queue *dispatch.Forecasts
	Log   *slog.Logger

	similar similarTimes
	proofs  proofs
}

// Record is a job's row.
type Record = query.Job

// PackageQueue is the queue of jobs with all frames, to be packed. The subject is the
// job id. Complete and FailPackaging finish its leases.
const PackageQueue = "package"

// MovieQueue is the queue of movies to encode. The subject is the job id, the item 0. Package movie
// has its rules; a job only orders its own.
const MovieQueue = "movie"

// Kinds of scheduled work for a job. A subject of lease.ExpireQueue is a kind, a slash
// and the job id.
const (
	ExpireSubmit   = "submit"   // cancel a job that was not submitted in time
	ExpireFrames   = "frames"   // remove the files of frames once the job has ended
	ExpireArtifact = "artifact" // remove the ZIP at the end of its retention
)

// expiry is the subject of lease.ExpireQueue for a kind of work on a job.
func expiry(kind, jobID string) string { return kind + "/" + jobID }

// Topic is announced when a change of a job is visible to watchers.
func Topic(jobID string) string { return "job:" + jobID }

// ProgressTopic is announced when only the progress inside frames has changed. It is a
// topic of its own because watchers may read such changes less often.
func ProgressTopic(jobID string) string { return "progress:" + jobID }

// Find reads a job of a workspace; another workspace's is render_not_found. It takes no
// lock, so the state may be another one by the time it is used: what changes a job
// locks it first.
func Find(ctx context.Context, tx *db.Tx, workspaceID, jobID string) (Record, error) {
	job, err := Read(ctx, tx, jobID)
	return ofWorkspace(job, err, workspaceID, jobID)
}

// Read reads a job of any workspace. Error: render_not_found.
func Read(ctx context.Context, tx *db.Tx, jobID string) (Record, error) {
	job, err := tx.JobGet(ctx, jobID)
	if db.IsNotFound(err) {
		return Record{}, nowhere(jobID)
	}
	if err != nil {
		return Record{}, fmt.Errorf("read job: %w", err)
	}
	return job, nil
}

// Lock reads a job's row and keeps it locked until the transaction ends. Take it before
// any lease of the job, as the package's order of locks demands. Error:
// render_not_found.
func Lock(ctx context.Context, tx *db.Tx, jobID string) (Record, error) {
	job, err := tx.JobLock(ctx, jobID)
	if db.IsNotFound(err) {
		return Record{}, nowhere(jobID)
	}
	if err != nil {
		return Record{}, fmt.Errorf("lock job: %w", err)
	}
	return job, nil
}

// lockOf is Lock for a job of a workspace; another workspace's is render_not_found.
func lockOf(ctx context.Context, tx *db.Tx, workspaceID, jobID string) (Record, error) {
	job, err := Lock(ctx, tx, jobID)
	return ofWorkspace(job, err, workspaceID, jobID)
}

// FindCompleted reads a completed job of a workspace. render_not_completed is retryable
// while the job can still complete, and final once it has failed or was cancelled.
// Errors: render_not_found, render_not_completed.
func FindCompleted(ctx context.Context, tx *db.Tx, workspaceID, jobID string) (Record, error) {
	job, err := Find(ctx, tx, workspaceID, jobID)
	if err == nil && Status(job.Status) != Completed {
		refused := fault.New(fault.RenderNotCompleted, "The render %s.", Status(job.Status).Said())
		if Status(job.Status).Terminal() {
			action := "Read the job's failure; this render will not complete."
			if Status(job.Status) == Cancelled {
				action = "Start a new render; a cancelled one has no result."
			}
			refused = refused.NotRetryable().WithAction(action)
		}
		return job, refused
	}
	return job, err
}

// ForDispatch is the part of a job that dispatch needs: dispatch is below this package
// and does not know Record. Frames that were taken over are no work for it.
func ForDispatch(r Record) dispatch.Job {
	return dispatch.Job{
		JobID: r.JobID, WorkspaceID: r.WorkspaceID, FrameCount: r.FrameCount - r.FramesReused, FramesCompleted: r.FramesCompleted - r.FramesReused, RenderUs: r.RenderUs, Pinned: r.FramesReused > 0,
	}
}

// ofWorkspace gives the callers of a workspace one answer for a job that is not there and
// for one that belongs to others (decisions 10).
func ofWorkspace(job Record, err error, workspaceID, jobID string) (Record, error) {
	if fault.Is(err, fault.RenderNotFound) || err == nil && job.WorkspaceID != workspaceID {
		return Record{}, notFound(jobID)
	}
	return job, err
}

func notFound(jobID string) error {
	return fault.New(fault.RenderNotFound, "There is no render %s in this workspace.", jobID)
}

// nowhere is notFound for callers that ask about all workspaces, such as an
// operator.
func nowhere(jobID string) error {
	return fault.New(fault.RenderNotFound, "There is no render %s.", jobID).WithAction("Check the job id.")
}
