package job

import (
	"context"
	"errors"
	"fmt"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/framecheck"
)

// ErrNotRendering means that a job has ended, or has all its frames, since it was read.
// It is no failure of the worker that reports.
var ErrNotRendering = errors.New("the job is not rendering")

// ErrNotPackaging means that another process has completed or ended the job.
var ErrNotPackaging = errors.New("the job is not in packaging")

// BeginRendering moves a queued job to rendering, at its first claim, and reports
// whether this was it. A rendering job stays as it is, and is not locked: claims of
// many workers must not wait for each other. Error: ErrNotRendering.
func BeginRendering(ctx context.Context, tx *db.Tx, jobID string) (job Record, first bool, err error) {
	if job, err = Read(ctx, tx, jobID); err != nil {
		return job, false, err
	}
	if Status(job.Status) == Queued {
		// The lock orders this claim and a concurrent cancel.
		if job, err = Lock(ctx, tx, jobID); err != nil {
			return job, false, err
		}
	}
	switch Status(job.Status) {
	case Rendering:
		return job, false, nil
	case Queued:
	default:
		return job, false, ErrNotRendering
	}
	if err := change(ctx, tx, jobID, Queued, Rendering); err != nil {
		return job, false, err
	}
	if err := tx.JobClaimed(ctx, query.JobClaimedParams{Now: tx.Now, JobID: jobID}); err != nil {
		return job, false, fmt.Errorf("claim job: %w", err)
	}
	return job, true, nil
}

// RenderedFrame is the part of an accepted frame that the job's record contains. Each
// frame overwrites device and version, so while the job renders, its row names those of
// the newest frame. Complete writes those of the whole job.
type RenderedFrame struct {
	RenderTime     time.Duration
	Renderer       string // contract.RendererID or contract.SyntheticRenderer
	Device         string // "GPU" or "CPU"
	DeviceName     string
	BlenderVersion string
}

// CountFrame counts an accepted frame and returns the job with it. It must run in the
// transaction that accepts the frame, so that each is counted once. The statement locks
// the job's row and does nothing for a job that no longer renders. Error:
// ErrNotRendering.
func CountFrame(ctx context.Context, tx *db.Tx, jobID string, f RenderedFrame) (Record, error) {
	job, err := tx.JobFrameDone(ctx, query.JobFrameDoneParams{
		RenderUs: f.RenderTime.Microseconds(), RenderDevice: f.Device, DeviceName: f.DeviceName, BlenderVersion: f.BlenderVersion, Renderer: f.Renderer,
		Now: tx.Now, JobID: jobID,
	})
	if db.IsNotFound(err) {
		return job, ErrNotRendering
	}
	if err != nil {
		return job, fmt.Errorf("count a frame: %w", err)
	}
	tx.Announce(Topic(jobID))
	return job, nil
}

// UncountFrame removes an accepted frame of renderUs microseconds from the counts,
// because it is rendered once more, and returns the job without it. taken says that it was
// taken over from another job. The job must be rendering; in any other state the result is an
// error.
func UncountFrame(ctx context.Context, tx *db.Tx, jobID string, renderUs int64, taken bool) (Record, error) {
	params := query.JobFrameUndoneParams{RenderUs: renderUs, Now: tx.Now, JobID: jobID}
	if taken {
		params.Reused = 1
	}
	job, err := tx.JobFrameUndone(ctx, params)
	if err != nil {
		return job, fmt.Errorf("take a frame back: %w", err)
	}
	return job, nil
}

// AddFinding adds the findings about one more frame to a locked job.
func AddFinding(ctx context.Context, tx *db.Tx, job Record, code string, frame int) error {
	return SetFindings(ctx, tx, job.JobID, framecheck.ReadFindings(job.Findings).With(code, frame))
}

// SetFindings sets the findings about the frames of a locked job. It changes no
// state and raises no seq: it accompanies a frame that does.
func SetFindings(ctx context.Context, tx *db.Tx, jobID string, found framecheck.Findings) error {
	if err := tx.JobFindings(ctx, query.JobFindingsParams{Findings: found.Stored(), JobID: jobID}); err != nil {
		return fmt.Errorf("tell a job of its frames: %w", err)
	}
	return nil
}

// ResumeRendering takes a locked job back from packaging, because stored frames of it
// are lost, and finishes l, its lease of PackageQueue. The caller puts the frames back.
// Errors: lease.ErrLost, ErrNotPackaging.
func ResumeRendering(ctx context.Context, tx *db.Tx, job Record, l lease.Lease) error {
	if Status(job.Status) != Packaging {
		return ErrNotPackaging
	}
	if err := lease.Finish(ctx, tx, l.Ref()); err != nil {
		return err
	}
	if err := change(ctx, tx, job.JobID, Packaging, Rendering); err != nil {
		return err
	}
	again := ForDispatch(job)
	if err := readNeeds(ctx, tx, &again, job.FrameStart); err != nil {
		return err
	}
	return dispatch.Reenter(ctx, tx, again)
}

// BeginPackaging moves a job with all frames to packaging and enqueues the packing.
// From here on the job loses a frame only when its file is lost: see ResumeRendering.
func BeginPackaging(ctx context.Context, tx *db.Tx, job Record) error {
	if err := dispatch.Dequeue(ctx, tx, ForDispatch(job)); err != nil {
		return err
	}
	if err := change(ctx, tx, job.JobID, Rendering, Packaging); err != nil {
		return err
	}
	return lease.Add(ctx, tx, PackageQueue, job.JobID, 0, time.Time{})
}
