package render

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/ground/pixels"
)

// Beat keeps a worker's leases alive and returns the ids of those that are no
// longer its own.
func (j *Jobs) Beat(ctx context.Context, holder string, held []lease.Ref, progress []float64) (lost []string, err error) {
	err = j.DB.Write(ctx, func(tx *db.Tx) error {
		lost = []string{}
		for i, ref := range held {
			ref.Holder = holder
			err := lease.Beat(ctx, tx, ref, progress[i], j.LeaseLife)
			if errors.Is(err, lease.ErrLost) {
				lost = append(lost, ref.ID)
				continue
			}
			if err != nil {
				return err
			}
			if jobID := subject(ref.ID); jobID != "" && progress[i] > 0 {
				tx.Announce(progressTopic(jobID))
			}
		}
		return nil
	})
	return lost, err
}

// subject is the job of a frame lease's id.
func subject(leaseID string) string {
	parts := strings.Split(leaseID, ":")
	if len(parts) != 3 {
		return ""
	}
	return parts[1]
}

// Picture is a frame that a worker hands in; its bytes are stored under BlobKey
// already.
type Picture struct {
	Lease         lease.Ref
	JobID         string
	Frame         int
	File          string
	BlobKey       string
	SHA256        string
	PixelSHA256   string
	SizeBytes     int64
	Width, Height int
	RenderTime    time.Duration
	Renderer      string // contract.RendererID or contract.SyntheticRenderer
	Device        string
	DeviceName    string
	Version       string
	BuildHash     string
	Switched      []string
	Log           string

	Registered string          // the device that the worker registered with: "GPU" or "CPU"
	Seen       *pixels.Picture // as the service decoded it; nil where only Blender can, or it is too large
	Unreadable string          // why it could not be decoded though it should; ""
}

// Accept takes a frame from the worker that holds its lease, when the frame check
// lets it. The same report again changes nothing and succeeds; kept is then
// false, and the bytes that came with it are not wanted. The last frame sends the
// job to packaging. Errors: lease_lost; frame_rejected, after which the try has
// failed.
func (j *Jobs) Accept(ctx context.Context, p Picture) (kept bool, err error) {
	scene, err := j.sceneOf(ctx, p.JobID)
	if err != nil {
		return false, err
	}
	if bad := unsound(p, scene); bad != nil {
		return false, j.Refuse(ctx, p.Lease, *bad)
	}
	var doubt *Failure
	err = j.DB.Write(ctx, func(tx *db.Tx) error {
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
		var tries []query.FailedTry
		if p.Lease.Attempt > 1 {
			if tries, err = tx.FailedTriesOfFrame(ctx, p.Lease.ID); err != nil {
				return fmt.Errorf("read failed tries: %w", err)
			}
		}
		finding, doubted := weigh(p, scene, tries)
		if doubt = doubted; doubt != nil {
			return j.failFrame(ctx, tx, p.Lease, *doubt)
		}
		kept = true
		return j.accept(ctx, tx, p, finding, tries)
	})
	if err == nil && doubt != nil {
		err = fault.New(fault.FrameRejected, "%s", doubt.Message)
	}
	return kept && err == nil, err
}

func (j *Jobs) accept(ctx context.Context, tx *db.Tx, p Picture, finding string, tries []query.FailedTry) error {
	job, err := tx.JobFrameDone(ctx, query.JobFrameDoneParams{
		RenderUs: p.RenderTime.Microseconds(), RenderDevice: p.Device, DeviceName: p.DeviceName, BlenderVersion: p.Version, Renderer: p.Renderer, Now: tx.Now, JobID: p.JobID,
	})
	if db.IsNotFound(err) {
		return lost(p.Lease.ID)
	}
	if err != nil {
		return fmt.Errorf("accept frame: %w", err)
	}
	if err := lease.Finish(ctx, tx, p.Lease); errors.Is(err, lease.ErrLost) {
		return lost(p.Lease.ID)
	} else if err != nil {
		return err
	}
	slices.Sort(p.Switched)
	_, err = tx.FrameCreate(ctx, query.FrameCreateParams{
		JobID: p.JobID, Frame: int64(p.Frame), Seq: job.Seq, Ordinal: job.FramesCompleted, File: p.File, BlobKey: p.BlobKey, Sha256: p.SHA256, PixelSha256: p.PixelSHA256,
		SizeBytes: p.SizeBytes, Width: int64(p.Width), Height: int64(p.Height), RenderUs: p.RenderTime.Microseconds(),
		WorkerID: p.Lease.Holder, Attempt: p.Lease.Attempt, Renderer: p.Renderer, Device: p.Device, DeviceName: p.DeviceName,
		BlenderVersion: p.Version, BuildHash: p.BuildHash, Switched: strings.Join(p.Switched, ","), Log: p.Log, AcceptedAt: tx.Now,
		Finding: finding, Blank: blankOf(p.Seen),
	})
	if err != nil {
		return fmt.Errorf("accept frame: %w", err)
	}
	tx.Announce(topic(p.JobID))
	switch job.FramesCompleted {
	case job.FrameCount:
		err = j.rendered(ctx, tx, job)
	case 1:
		_, err = took(ctx, tx, job, 0) // what its frames take is no guess any longer
	}
	if err != nil {
		return err
	}
	return j.credit(ctx, tx, p, tries)
}

// rendered sends a job whose frames are all in to packaging, unless one of them is
// to be rendered once more.
func (j *Jobs) rendered(ctx context.Context, tx *db.Tx, job query.Job) error {
	job, err := j.doubtBlanks(ctx, tx, job)
	if err != nil || Status(job.Status) != Rendering || job.FramesCompleted < job.FrameCount {
		return err
	}
	if err := leave(ctx, tx, job); err != nil {
		return err
	}
	if err := change(ctx, tx, job.JobID, Rendering, Packaging); err != nil {
		return err
	}
	return lease.Add(ctx, tx, PackageQueue, job.JobID, 0, time.Time{})
}

func lost(leaseID string) error {
	return fault.New(fault.LeaseLost, "The lease %s is no longer this worker's.", leaseID)
}
