package result

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/plaintext"
)

// LogBatch is the number of frames' logs, of at most 16 KiB each, in memory at once.
// Together 1.6 MiB.
const LogBatch = 100

// maxLoggedAttempts bounds the failed attempts in a job's log: the first ones show why it
// failed.
const maxLoggedAttempts = 200

// FrameLog is an accepted frame with Blender's output. The log is the end of the output,
// at most 16 KiB, without paths of the worker's machine.
type FrameLog = query.FrameLogsOfRow

// WriteFrameLogs writes the logs of frames, each with a heading of its facts.
// Errors are those of w. An empty log still gets its heading.
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
		if f.Origin != "" {
			if _, err := fmt.Fprintf(w, "== frame %d: %s, %dx%d, unchanged, of job %s\n", f.Frame, f.File, f.Width, f.Height, f.Origin); err != nil {
				return err
			}
			continue
		}
		_, err := fmt.Fprintf(w, "== frame %d: %s, %dx%d, %.3f s on %s (%s), %s, attempt %d%s\n%s\n",
			f.Frame, f.File, f.Width, f.Height, Seconds(f.RenderUs), f.Device, plaintext.Line(f.DeviceName), plaintext.Line(by), f.Attempt, found, logText(f.Log))
		if err != nil {
			return err
		}
	}
	return nil
}

// WriteFailedAttempts writes the failed attempts of a job. It leaves out workers' names:
// those are the operator's, and the log is the caller's. An attempt has a log only when
// the worker sent one.
func WriteFailedAttempts(ctx context.Context, d *db.DB, jobID string, w io.Writer) error {
	var attempts []query.FailedAttempt
	err := d.Read(ctx, func(tx *db.Tx) (err error) {
		attempts, err = tx.FailedAttemptsOfJob(ctx, query.FailedAttemptsOfJobParams{JobID: jobID, Max: maxLoggedAttempts})
		return err
	})
	if err != nil {
		return fmt.Errorf("read failed attempts: %w", err)
	}
	for _, a := range attempts {
		_, err := fmt.Fprintf(w, "== frame %d failed at %s: %s, attempt %d: %s\n", a.Item, db.Time(a.FailedAt).Format(time.RFC3339), a.Code, a.Attempt, plaintext.Line(a.Message))
		if err == nil && a.Log != "" {
			_, err = fmt.Fprintf(w, "%s\n", logText(a.Log))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// logText is what a worker sent as Blender's output, safe to show. A line that begins
// like a heading of this log gets a blank before it.
func logText(log string) string {
	text := plaintext.Lines(strings.TrimRight(log, "\n"))
	text = strings.ReplaceAll("\n"+text, "\n==", "\n ==")
	return text[1:]
}

// Seconds converts stored microseconds.
func Seconds(us int64) float64 { return float64(us) / 1e6 }
