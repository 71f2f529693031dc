package artifact

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
)

// LogBatch is how many frames' logs, of 16 KiB at most, are in memory at once.
const LogBatch = 100

// loggedAttempts bounds the failed attempts that a job's log shows: the first ones
// tell why it failed.
const loggedAttempts = 200

// FrameLog is what Blender said of an accepted frame.
type FrameLog = query.FrameLogsOfRow

// WriteFrameLogs writes what Blender said of frames.
func WriteFrameLogs(w io.Writer, frames []FrameLog) error {
	for _, f := range frames {
		by := contract.Application + " " + f.BlenderVersion
		if f.Renderer == contract.SyntheticRenderer {
			by = contract.SyntheticApplication
		}
		found := ""
		if f.Finding != "" {
			found = ", found " + f.Finding
		}
		_, err := fmt.Fprintf(w, "== frame %d: %s, %dx%d, %.3f s on %s (%s), %s, attempt %d%s\n%s\n",
			f.Frame, f.File, f.Width, f.Height, seconds(f.RenderUs), f.Device, f.DeviceName, by, f.Attempt, found, strings.TrimRight(f.Log, "\n"))
		if err != nil {
			return err
		}
	}
	return nil
}

// WriteFailedAttempts writes what a job's log says of attempts that failed. Workers
// are not named: their names are the operator's.
func WriteFailedAttempts(ctx context.Context, d *db.DB, jobID string, w io.Writer) error {
	var attempts []query.FailedTry
	err := d.Read(ctx, func(tx *db.Tx) (err error) {
		attempts, err = tx.FailedTriesOfJob(ctx, query.FailedTriesOfJobParams{JobID: jobID, Max: loggedAttempts})
		return err
	})
	if err != nil {
		return fmt.Errorf("read failed attempts: %w", err)
	}
	for _, a := range attempts {
		_, err := fmt.Fprintf(w, "== frame %d failed at %s: %s, attempt %d: %s\n", a.Item, db.Time(a.FailedAt).Format(time.RFC3339), a.Code, a.Attempt, a.Message)
		if err == nil && a.Log != "" {
			_, err = fmt.Fprintf(w, "%s\n", strings.TrimRight(a.Log, "\n"))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// writeLog writes a job's log as it stands in the ZIP: by the numbers of frames, a
// batch in memory at a time, and behind them the attempts that failed.
func (a *Artifacts) writeLog(ctx context.Context, jobID string, w io.Writer) error {
	after := int64(-1 << 62)
	for {
		var rows []query.FrameLogsOfRow
		err := a.DB.Read(ctx, func(tx *db.Tx) (err error) {
			rows, err = tx.FrameLogsOf(ctx, query.FrameLogsOfParams{JobID: jobID, Frame: after, Max: LogBatch})
			return err
		})
		if err != nil {
			return fmt.Errorf("read the logs of frames: %w", err)
		}
		if err := WriteFrameLogs(w, rows); err != nil {
			return err
		}
		if len(rows) < LogBatch {
			return WriteFailedAttempts(ctx, a.DB, jobID, w)
		}
		after = rows[len(rows)-1].Frame
	}
}

func seconds(us int64) float64 { return float64(us) / 1e6 }
