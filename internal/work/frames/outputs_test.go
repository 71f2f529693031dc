package frames_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/jobtest"
	"svc.example/internal/work/frames"
	"svc.example/internal/work/job"
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

// Each file of a job is listed in its receipt, so there are only so many. The first frame shows
// how many there will be.
func TestAJobWithTooManyOutputsFailsAtItsFirstFrame(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		const each = 50
		for _, c := range []struct {
			frames  int
			status  job.Status
			failure fault.Code
		}{{contract.JobOutputs/each + 1, job.Failed, fault.TooManyOutputs}, {contract.JobOutputs / each, job.Rendering, ""}} {
			jobID := w.Job(t, w.Workspace(t), c.frames)
			picture := jobtest.Picture(w.ClaimOne(w.Worker(t)), time.Second)
			for i := range each {
				picture.Outputs = append(picture.Outputs, frames.Output{Name: fmt.Sprintf("pass_%d.png", i), BlobKey: fmt.Sprintf("frames/%s/%d", jobID, i), SHA256: strings.Repeat("a", 64), SizeBytes: 1})
			}
			if _, _, err := w.Frames.Admit(t.Context(), picture); (err != nil) != (c.failure != "") {
				t.Errorf("a frame of %d: %v", c.frames, err)
			}
			w.WantStatus(jobID, c.status, c.failure)
		}
	})
}
