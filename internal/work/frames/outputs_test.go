package frames_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/test/jobtest"
	"svc.example/internal/work/frames"
)

// TestTheAuditSeesAnOutputWhoseRowIsGone, also while the job renders: nothing else names an
// output before there is a receipt.
func TestTheAuditSeesAnOutputWhoseRowIsGone(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		jobID := w.Job(t, w.Workspace(t), 2)
		held := w.ClaimOne(w.Worker(t))
		picture := jobtest.Picture(held, time.Second)
		for _, name := range []string{"depth.png", "mist.png"} {
			picture.Outputs = append(picture.Outputs, frames.Output{Name: name, BlobKey: "frames/" + jobID + "/" + name, SHA256: strings.Repeat("a", 64), SizeBytes: 1})
		}
		if _, err := w.Frames.Accept(t.Context(), picture); err != nil {
			t.Fatal(err)
		}
		breaches := func() (found []string) {
			w.Read(t, func(ctx context.Context, tx *db.Tx) error {
				return frames.Audit(ctx, tx, func(rule, _, format string, args ...any) {
					if strings.Contains(rule, "output") {
						found = append(found, fmt.Sprintf(format, args...))
					}
				})
			})
			return found
		}
		if found := breaches(); len(found) != 0 {
			t.Errorf("before the damage: %v", found)
		}
		for _, left := range []string{"1", "0"} {
			w.Write(t, func(ctx context.Context, tx *db.Tx) error {
				return tx.Exec(ctx, "DELETE FROM frame_output WHERE job_id = $1 AND number = "+left, jobID)
			})
			if found, want := breaches(), []string{"it was accepted with 2 outputs and has " + left}; !slices.Equal(found, want) {
				t.Errorf("the audit found %v, want %v", found, want)
			}
		}
	})
}
