package render

import (
	"context"
	"fmt"
	"time"

	"svc.example/internal/db"
	"svc.example/internal/db/query"
)

// Event is something a watcher of a job is told. Seq grows with every durable
// change; a watcher that saw Seq n and comes back with n misses nothing.
type Event struct {
	Seq   int64
	Job   *Object        // the job as it is now
	Frame *FrameAccepted // or a frame that has been accepted
}

// FrameAccepted tells of one accepted frame.
type FrameAccepted struct {
	JobID         string  `json:"job_id"`
	Frame         int     `json:"frame"`
	File          string  `json:"file"`
	SHA256        string  `json:"sha256"`
	SizeBytes     int64   `json:"size_bytes"`
	Width         int     `json:"width"`
	Height        int     `json:"height"`
	RenderSeconds float64 `json:"render_seconds"`
	// FramesCompleted counts the frames accepted before and with this one.
	FramesCompleted int `json:"frames_completed"`
}

// watchBatch is how many frames are told in one read.
const watchBatch = 500

// watchIdle is the longest a watcher goes without looking, so that progress
// inside frames and waiting reasons are seen even when nothing is announced.
const watchIdle = 5 * time.Second

// Watch tells emit what happened to a job after seq, and then what happens,
// until the job has ended or ctx does. idle is called whenever a while passed
// without news. Errors: render_not_found, and those of emit.
func (j *Jobs) Watch(ctx context.Context, workspaceID, jobID string, seq int64, emit func(Event) error, idle func() error) error {
	wake, stop := j.DB.Listen(topic(jobID))
	defer stop()
	told := -1.0 // per cent; the job is always told once
	for {
		events, more, err := j.news(ctx, workspaceID, jobID, seq, told)
		if err != nil {
			return err
		}
		for _, e := range events {
			if err := emit(e); err != nil {
				return err
			}
			seq = max(seq, e.Seq)
			if e.Job != nil {
				told = e.Job.ProgressPercent
				if e.Job.Status.Terminal() {
					return nil
				}
			}
		}
		if more {
			continue
		}
		if err := awaitNews(ctx, wake, idle); err != nil {
			return err
		}
	}
}

// awaitNews returns when it is time to look again.
func awaitNews(ctx context.Context, wake <-chan struct{}, idle func() error) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-wake:
		return nil
	case <-time.After(watchIdle):
		return idle()
	}
}

// news reads what a watcher that saw seq and progress has not seen.
func (j *Jobs) news(ctx context.Context, workspaceID, jobID string, seq int64, told float64) (events []Event, more bool, err error) {
	err = j.DB.Read(ctx, func(tx *db.Tx) error {
		job, err := find(ctx, tx, workspaceID, jobID)
		if err != nil {
			return err
		}
		frames, err := tx.FramesSince(ctx, query.FramesSinceParams{JobID: jobID, Seq: seq, Max: watchBatch})
		if err != nil {
			return fmt.Errorf("read frames: %w", err)
		}
		events, more = nil, len(frames) == watchBatch
		for _, f := range frames {
			events = append(events, Event{Seq: f.Seq, Frame: &FrameAccepted{
				JobID: jobID, Frame: int(f.Frame), File: f.File, SHA256: f.Sha256, SizeBytes: f.SizeBytes,
				Width: int(f.Width), Height: int(f.Height), RenderSeconds: seconds(f.RenderUs),
				FramesCompleted: int(f.Ordinal),
			}})
		}
		if more {
			return nil // the job comes behind its frames
		}
		object, err := j.object(ctx, tx, job)
		if err != nil {
			return err
		}
		if job.Seq > seq || object.ProgressPercent != told || len(frames) > 0 {
			events = append(events, Event{Seq: job.Seq, Job: &object})
		}
		return nil
	})
	return events, more, err
}
