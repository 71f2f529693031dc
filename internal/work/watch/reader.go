// Package watch shows callers what becomes of a job: its frames, small pictures of
// them, what Blender said, and everything that happens while they watch.
//
// What always holds: it only reads; a change of a job is read once and told to all who
// watch it in this process, each told it once and in order; a preview is made once
// however many watch, and what is kept of previews is bounded in bytes for the whole
// process.
//
// Changing a job is left to job and frames, the lines of a stream to the doors. Start
// reading at Reader, then Reader.Watch in watch.go and feed.go.
package watch

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/work/artifact"
	"svc.example/internal/work/job"
)

// Reader reads what callers see of a job's frames.
type Reader struct {
	DB    *db.DB
	Blobs blob.Store
	Jobs  Jobs
	Log   *slog.Logger

	feeds feeds // of the jobs that are watched here
}

// Jobs shows a job as callers see it.
type Jobs interface {
	Object(ctx context.Context, tx *db.Tx, jobID string) (job.Object, error)
}

// row is what is known of an accepted frame, without what Blender said.
type row = artifact.Frame

// FrameView is an accepted frame as its workspace sees it.
type FrameView struct {
	Frame         int
	File          string
	SHA256        string
	PixelSHA256   string
	SizeBytes     int64
	Width, Height int // pixels
	RenderSeconds float64
	Device        string
	DeviceName    string
	AcceptedAt    time.Time
	Finding       string // what the frame check found and let pass; ""
}

// Frames lists a job's accepted frames by number. Errors: render_not_found.
func (r *Reader) Frames(ctx context.Context, workspaceID, jobID string) (out []FrameView, err error) {
	err = r.DB.Read(ctx, func(tx *db.Tx) error {
		if _, err := job.Find(ctx, tx, workspaceID, jobID); err != nil {
			return err
		}
		rows, err := tx.FramesOf(ctx, jobID)
		if err != nil {
			return fmt.Errorf("read frames: %w", err)
		}
		for _, f := range rows {
			out = append(out, FrameView{
				Frame: int(f.Frame), File: f.File, SHA256: f.Sha256, PixelSHA256: f.PixelSha256, SizeBytes: f.SizeBytes,
				Width: int(f.Width), Height: int(f.Height), RenderSeconds: float64(f.RenderUs) / 1e6, Device: f.Device, DeviceName: f.DeviceName,
				AcceptedAt: db.Time(f.AcceptedAt), Finding: f.Finding,
			})
		}
		return nil
	})
	return out, err
}

// WriteLog writes what Blender said, in the order in which frames were accepted,
// and behind it every attempt that failed.
// Errors: render_not_found, and those of w.
func (r *Reader) WriteLog(ctx context.Context, workspaceID, jobID string, w io.Writer) error {
	for seq := int64(0); ; {
		var rows []artifact.FrameLog
		err := r.DB.Read(ctx, func(tx *db.Tx) error {
			if _, err := job.Find(ctx, tx, workspaceID, jobID); err != nil {
				return err
			}
			batch, err := tx.FrameLogsSince(ctx, query.FrameLogsSinceParams{JobID: jobID, Seq: seq, Max: artifact.LogBatch})
			rows = make([]artifact.FrameLog, 0, len(batch))
			for _, b := range batch {
				rows = append(rows, artifact.FrameLog(b))
			}
			return err
		})
		if err != nil {
			return err
		}
		if err := artifact.WriteFrameLogs(w, rows); err != nil {
			return err
		}
		if len(rows) < artifact.LogBatch {
			return artifact.WriteFailedAttempts(ctx, r.DB, jobID, w)
		}
		seq = rows[len(rows)-1].Seq
	}
}
