// Package watch shows callers the progress of a job: its frames, small previews, Blender's
// output, and a stream of events.
//
// What always holds: it only reads; a change of a job is read once for all watchers in
// this process, and each watcher receives it once and in order; a preview is made once
// for all watchers; the kept previews are bounded in bytes for the whole process.
//
// It leaves changing a job to job and frames, and the format of a stream to the handlers.
// Start reading at Reader, then Reader.Watch in watch.go and feed.go.
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
	"svc.example/internal/ground/sharing"
	"svc.example/internal/render/framelist"
	"svc.example/internal/work/framecheck"
	"svc.example/internal/work/job"
	"svc.example/internal/work/result"
)

// Reader reads what callers see of a job's frames. The exported fields are set once,
// before the first call; all methods are safe for concurrent use. A Reader must not be
// copied after that.
type Reader struct {
	DB    *db.DB
	Blobs blob.Store  // of frames and ZIPs, for previews
	Whole *blob.Whole // what of Blobs was hashed, one for the process
	Jobs  Jobs
	Log   *slog.Logger // previews that cannot be made
	// Watchers is how many may watch one job at once in this process; 0 is any number.
	// Each frame of a job costs a write for each of them.
	Watchers int

	feeds feeds                     // of the jobs with watchers in this process
	turns sharing.Maker[previewKey] // of previews, which take a processor and up to 32 MiB each
}

// Jobs shows a job as callers see it.
type Jobs interface {
	Object(ctx context.Context, tx *db.Tx, jobID string) (job.Object, error)
}

// row is an accepted frame without its log.
type row = result.Frame

// FrameView is an accepted frame as its workspace sees it.
type FrameView struct {
	Frame         int
	File          string
	SHA256        string // of the file, hex
	PixelSHA256   string // of the decoded pixels, hex
	SizeBytes     int64
	Width, Height int     // pixels
	RenderSeconds float64 // Blender's time, to the microsecond
	Device        string  // GPU or CPU
	DeviceName    string
	AcceptedAt    time.Time
	Checked       string // what the service looked at itself: "pixels", "structure", "" where that is not known
	Finding       string // what the frame check found and accepted; "" for nothing
	Strips        int    // in how many strips several workers rendered it; 0 where one did
	Outputs       []Output
}

// Frames lists a job's accepted frames by number. Errors: render_not_found. A job without
// accepted frames gives nil. A job of another workspace is render_not_found too. Once all
// frames are there, those that repeat the previous frame have that as their finding.
func (r *Reader) Frames(ctx context.Context, workspaceID, jobID string) (out []FrameView, err error) {
	err = r.DB.Read(ctx, func(tx *db.Tx) error {
		record, err := job.Find(ctx, tx, workspaceID, jobID)
		if err != nil {
			return err
		}
		rows, err := tx.FramesOf(ctx, jobID)
		if err != nil {
			return fmt.Errorf("read frames: %w", err)
		}
		cut, err := tx.StripCounts(ctx, jobID)
		if err != nil {
			return fmt.Errorf("read the strips of frames: %w", err)
		}
		outputs, err := outputsOf(ctx, tx, jobID)
		if err != nil {
			return err
		}
		strips := map[int64]int{}
		for _, c := range cut {
			strips[c.Frame] = int(c.Strips)
		}
		looks := make([]framecheck.AcceptedFrame, 0, len(rows))
		for _, f := range rows {
			looks = append(looks, framecheck.AcceptedFrame{Frame: int(f.Frame), Finding: f.Finding, PixelSHA256: f.PixelSha256})
		}
		var repeated framelist.List
		if int64(len(rows)) == record.FrameCount {
			repeated = framecheck.Repeated(looks)
		}
		for _, f := range rows {
			if repeated.Has(int(f.Frame)) {
				f.Finding = framecheck.FindingRepeated
			}
			out = append(out, FrameView{
				Frame: int(f.Frame), File: f.File, SHA256: f.Sha256, PixelSHA256: f.PixelSha256, SizeBytes: f.SizeBytes,
				Width: int(f.Width), Height: int(f.Height), RenderSeconds: float64(f.RenderUs) / 1e6, Device: f.Device, DeviceName: f.DeviceName,
				AcceptedAt: db.Time(f.AcceptedAt), Checked: f.Checked, Finding: f.Finding, Strips: strips[f.Frame], Outputs: outputs[f.Frame],
			})
		}
		return nil
	})
	return out, err
}

// Over reports whether a watcher at a position has the last event of a job that has ended.
// Error: render_not_found.
func (r *Reader) Over(ctx context.Context, workspaceID, jobID string, at Cursor) (over bool, err error) {
	err = r.DB.ReadStatement(ctx, func(ctx context.Context, tx *db.Tx) error {
		record, err := job.Find(ctx, tx, workspaceID, jobID)
		over = err == nil && job.Status(record.Status).Terminal() && at.Seq >= record.Seq
		return err
	})
	return over, err
}

// WriteLog writes Blender's output, in the order in which frames were accepted, then the
// failed attempts. It reads one batch at a time, so memory does not grow with the job.
// Errors: render_not_found, and those of w. Each batch is a transaction of its own: frames
// that are accepted meanwhile are included. What is written before an error stays written.
func (r *Reader) WriteLog(ctx context.Context, workspaceID, jobID string, w io.Writer) error {
	for seq := int64(0); ; {
		var rows []result.FrameLog
		err := r.DB.Read(ctx, func(tx *db.Tx) error {
			if _, err := job.Find(ctx, tx, workspaceID, jobID); err != nil {
				return err
			}
			batch, err := tx.FrameLogsSince(ctx, query.FrameLogsSinceParams{JobID: jobID, Seq: seq, Max: result.LogBatch})
			rows = make([]result.FrameLog, 0, len(batch))
			for _, b := range batch {
				rows = append(rows, result.FrameLog(b))
			}
			return err
		})
		if err != nil {
			return err
		}
		if err := result.WriteFrameLogs(w, rows); err != nil {
			return err
		}
		if len(rows) < result.LogBatch {
			return result.WriteFailedAttempts(ctx, r.DB, jobID, w)
		}
		seq = rows[len(rows)-1].Seq
	}
}
