package frames

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/framecheck"
	"svc.example/internal/work/job"
	"svc.example/internal/work/quote"
)

// Picture is a frame that a worker hands in; its bytes are stored under BlobKey
// already.
type Picture struct {
	framecheck.Picture // Holder is Lease.Holder

	Lease      lease.Ref
	JobID      string
	Frame      int
	BlobKey    string
	SHA256     string
	SizeBytes  int64
	RenderTime time.Duration
	DeviceName string
	Version    string // of Blender
	BuildHash  string
	Switched   []string // settings that the worker changed to render at all
}

// Accept takes a frame from the worker that holds its lease, when the frame check
// lets it. Repeating a report changes nothing and succeeds; kept is then false, and
// the bytes that came with it are not wanted. The last frame sends the job to
// packaging. Errors: lease_lost; frame_rejected, after which the attempt has failed.
func (f *Frames) Accept(ctx context.Context, p Picture) (kept bool, err error) {
	scene, err := f.sceneOf(ctx, p.JobID)
	if err != nil {
		return false, err
	}
	if bad := framecheck.Unsound(p.Picture, scene); bad != nil {
		return false, f.Refuse(ctx, p.Lease, *bad)
	}
	var doubt *framecheck.Failure
	err = f.DB.Write(ctx, func(tx *db.Tx) error {
		kept, doubt = false, nil
		known, err := tx.FrameGet(ctx, query.FrameGetParams{JobID: p.JobID, Frame: int64(p.Frame)})
		if err == nil {
			if known.WorkerID == p.Lease.Holder && known.Attempt == p.Lease.Attempt && known.Sha256 == p.SHA256 {
				return nil
			}
			return lost(p.Lease.ID)
		}
		if !db.IsNotFound(err) {
			return fmt.Errorf("read frame: %w", err)
		}
		var earlier []framecheck.Attempt
		if p.Lease.Attempt > 1 {
			if earlier, err = dispatch.FailedAttempts(ctx, tx, p.Lease.ID); err != nil {
				return err
			}
		}
		finding, doubted := framecheck.Weigh(p.Picture, scene, earlier)
		if doubt = doubted; doubt != nil {
			return f.failFrame(ctx, tx, p.Lease, *doubt)
		}
		kept = true
		return f.accept(ctx, tx, p, finding, earlier)
	})
	if err == nil && doubt != nil {
		err = fault.New(fault.FrameRejected, "%s", doubt.Message)
	}
	return kept && err == nil, err
}

// Refuse fails the attempt that a picture came from. Errors: frame_rejected,
// lease_lost.
func (f *Frames) Refuse(ctx context.Context, ref lease.Ref, failure framecheck.Failure) error {
	if err := f.Fail(ctx, ref, failure); err != nil {
		return err
	}
	return fault.New(fault.FrameRejected, "%s", failure.Message)
}

func (f *Frames) accept(ctx context.Context, tx *db.Tx, p Picture, finding string, earlier []framecheck.Attempt) error {
	record, err := job.CountFrame(ctx, tx, p.JobID, job.RenderedFrame{
		RenderTime: p.RenderTime, Renderer: p.Renderer, Device: p.Device, DeviceName: p.DeviceName, BlenderVersion: p.Version,
	})
	if errors.Is(err, job.ErrNotRendering) {
		return lost(p.Lease.ID)
	}
	if err != nil {
		return err
	}
	if err := lease.Finish(ctx, tx, p.Lease); errors.Is(err, lease.ErrLost) {
		return lost(p.Lease.ID)
	} else if err != nil {
		return err
	}
	if err := keep(ctx, tx, p, record, finding); err != nil {
		return err
	}
	switch record.FramesCompleted {
	case record.FrameCount:
		err = f.finishRendering(ctx, tx, record)
	case 1:
		err = dispatch.RecordFirstFrame(ctx, tx, job.ForDispatch(record))
	}
	if err != nil {
		return err
	}
	return f.credit(ctx, tx, p, earlier)
}

// keep writes the row of an accepted frame; record is its job with it.
func keep(ctx context.Context, tx *db.Tx, p Picture, record job.Record, finding string) error {
	slices.Sort(p.Switched)
	_, err := tx.FrameCreate(ctx, query.FrameCreateParams{
		JobID: p.JobID, Frame: int64(p.Frame), Seq: record.Seq, Ordinal: record.FramesCompleted, File: p.File, BlobKey: p.BlobKey, Sha256: p.SHA256, PixelSha256: p.PixelSHA256,
		SizeBytes: p.SizeBytes, Width: int64(p.Width), Height: int64(p.Height), RenderUs: p.RenderTime.Microseconds(),
		WorkerID: p.Lease.Holder, Attempt: p.Lease.Attempt, Renderer: p.Renderer, Device: p.Device, DeviceName: p.DeviceName,
		BlenderVersion: p.Version, BuildHash: p.BuildHash, Switched: strings.Join(p.Switched, ","), Log: p.Log, AcceptedAt: tx.Now,
		Finding: finding, Blank: p.Blank(),
	})
	if err != nil {
		return fmt.Errorf("accept frame: %w", err)
	}
	return nil
}

// finishRendering sends a job whose frames are all in to packaging, unless one of
// them is to be rendered once more.
func (f *Frames) finishRendering(ctx context.Context, tx *db.Tx, record job.Record) error {
	record, err := f.doubtBlanks(ctx, tx, record)
	if err != nil || job.Status(record.Status) != job.Rendering || record.FramesCompleted < record.FrameCount {
		return err
	}
	return job.BeginPackaging(ctx, tx, record)
}

// credit notes a good frame of a worker, and that those who failed it in earlier
// attempts were at fault.
func (f *Frames) credit(ctx context.Context, tx *db.Tx, p Picture, earlier []framecheck.Attempt) error {
	if err := f.Workers.RecordGoodFrame(ctx, tx, p.Lease.Holder); err != nil {
		return err
	}
	for _, workerID := range framecheck.AtFault(p.Picture, earlier) {
		if err := f.Workers.RecordFault(ctx, tx, workerID); err != nil {
			return err
		}
	}
	return nil
}

// sceneOf reads what inspect found out about the pictures of a job's scene. Error:
// lease_lost, where there is no such job.
func (f *Frames) sceneOf(ctx context.Context, jobID string) (framecheck.Scene, error) {
	var text string
	err := f.DB.Read(ctx, func(tx *db.Tx) (err error) {
		text, err = tx.JobScene(ctx, jobID)
		return err
	})
	if db.IsNotFound(err) {
		return framecheck.Scene{}, fault.New(fault.LeaseLost, "There is no render %s.", jobID)
	}
	var scene quote.Scene
	if err == nil {
		err = json.Unmarshal([]byte(text), &scene)
	}
	if err != nil {
		return framecheck.Scene{}, fmt.Errorf("read the scene of %s: %w", jobID, err)
	}
	return framecheck.Scene{
		Width: scene.FrameWidth, Height: scene.FrameHeight, OutputFormat: scene.OutputFormat, MovieOutput: scene.MovieOutput,
		MissingFiles: len(scene.MissingFiles) > 0,
	}, nil
}
