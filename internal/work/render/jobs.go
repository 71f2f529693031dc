// Package render is THE JOB: its states, and every way from one to the next.
//
// start reserves money and adds a lease for each frame; workers claim frames
// and hand in pictures; when the last frame is in, the frames are packed into a
// ZIP; completing captures the money, writes the receipt and changes the state
// in one transaction.
//
// What always holds: a state changes only along the table in states.go, by one
// statement that names the state it comes from; a terminal state never changes;
// completed implies that artifact, receipt, its leaf in the log and capture are there; a frame has
// one winner, whatever reports come late or twice; for every job that has ended
// reserved = captured + released, and one event for webhooks is written.
//
// In a transaction the job's row is locked before its leases, those before the
// turn rows, and workers' rows come last, always, so that two transactions never
// wait for each other in a circle.
//
// Prices are left to quote, money to wallet, work in rows to lease, HTTP to the
// doors. Start reading at Jobs, then states.go and start.go; who renders what is
// in turns.go and claim.go, what becomes of a failed try in failures.go, what
// counts as a picture in check.go.
package render

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/receipt/signing"
	"svc.example/internal/work/webhook"
)

// Jobs is all jobs of this house.
type Jobs struct {
	DB    *db.DB
	Blobs blob.Store
	Links links.Links
	Keys  *signing.Ring
	// Accepting tells whether new jobs are taken; nil means always.
	Accepting func() bool
	// ArtifactLife is how long an artifact is kept after completion.
	ArtifactLife time.Duration
	// LeaseLife is how long a frame stays with a worker that is not heard.
	LeaseLife time.Duration
	// Webhooks checks where the ends of jobs are told.
	Webhooks *webhook.Hooks
	Log      *slog.Logger

	feeds feeds // of the jobs that are watched here
}

// Queues of the lease engine that jobs use. The subject is the job id.
const (
	FrameQueue   = "frame"
	PackageQueue = "package"
)

// packageTries is how often packing is tried before the job fails.
const packageTries = 5

// topic is announced when something of a job changes that a watcher can see.
func topic(jobID string) string { return "job:" + jobID }

// progressTopic is announced when no more has changed than the progress inside
// frames.
func progressTopic(jobID string) string { return "progress:" + jobID }

// find reads a job of a workspace; another workspace's is render_not_found.
func find(ctx context.Context, tx *db.Tx, workspaceID, jobID string) (query.Job, error) {
	job, err := tx.JobGet(ctx, jobID)
	if db.IsNotFound(err) || (err == nil && job.WorkspaceID != workspaceID) {
		return query.Job{}, notFound(jobID)
	}
	if err != nil {
		return query.Job{}, fmt.Errorf("read job: %w", err)
	}
	return job, nil
}

func notFound(jobID string) error {
	return fault.New(fault.RenderNotFound, "There is no render %s in this workspace.", jobID)
}

// lock reads a job's row and keeps it locked until the transaction ends.
func lock(ctx context.Context, tx *db.Tx, jobID string) (query.Job, error) {
	job, err := tx.JobLock(ctx, jobID)
	if db.IsNotFound(err) {
		return query.Job{}, notFound(jobID)
	}
	if err != nil {
		return query.Job{}, fmt.Errorf("lock job: %w", err)
	}
	return job, nil
}
