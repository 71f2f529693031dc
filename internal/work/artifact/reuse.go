package artifact

import (
	"context"
	"fmt"
	"io"

	"svc.example/internal/ground/db"
	"svc.example/internal/render/framelist"
	"svc.example/internal/render/settings"
	"svc.example/internal/work/job"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/result"
	"svc.example/internal/work/reuse"
)

// keysOf makes the keys by which later jobs find a job's frames. Frames with a finding, and
// frames that another worker may render in another way, get none. Where the scene cannot be read
// now, the job has no keys, and its frames are not reused.
func (a *Artifacts) keysOf(ctx context.Context, record job.Record, frames []result.Frame) string {
	if a.Reuse == nil {
		return ""
	}
	numbers := make(framelist.List, 0, len(frames))
	accepted := make([]reuse.Accepted, 0, len(frames))
	for _, f := range frames {
		if f.Finding != "" || !reuse.Repeatable(f.Switched) {
			continue
		}
		numbers = append(numbers, int(f.Frame))
		accepted = append(accepted, reuse.Accepted{Frame: int(f.Frame), Switched: f.Switched, By: reuse.Class{
			Renderer: f.Renderer, Device: f.Device, DeviceName: f.DeviceName, BlenderVersion: f.BlenderVersion, BuildHash: f.BuildHash,
		}})
	}
	chosen, err := settings.Read(record.Settings)
	if err != nil || len(numbers) == 0 {
		return ""
	}
	pictures, err := a.Reuse.OfUpload(ctx, record.WorkspaceID, record.UploadID, chosen, numbers)
	if err != nil {
		return ""
	}
	return pictures.Keys(accepted)
}

// originsOf reads where the frames are proven that were taken over, by their job.
func originsOf(ctx context.Context, tx *db.Tx, frames []result.Frame) (map[string]receipt.Origin, error) {
	var jobs []string
	for _, f := range frames {
		jobs = append(jobs, f.Origin)
	}
	origins, err := job.Origins(ctx, tx, jobs)
	if err != nil {
		return nil, fmt.Errorf("read the origins of frames: %w", err)
	}
	return origins, nil
}

// origins opens frames that were taken over.
func (a *Artifacts) origins() *result.Origins {
	return &result.Origins{DB: a.DB, Whole: a.Whole, Blobs: a.Blobs}
}

// openFrame opens the bytes of a frame whose job has no ZIP yet.
func (a *Artifacts) openFrame(ctx context.Context, origins *result.Origins, f result.Frame) (io.ReadCloser, error) {
	if f.Origin != "" {
		return origins.Open(ctx, f)
	}
	return a.Blobs.Open(ctx, f.BlobKey)
}
