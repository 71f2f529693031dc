package job_test

import (
	"context"
	"testing"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/test/jobtest"
	"svc.example/internal/work/job"
)

// TestFramesThatAreAcceptedAtOnceAreNoBreach has the frame that is accepted last begin
// before another: its transaction waited for the job's row, as many do where several API
// processes accept frames of one job.
func TestFramesThatAreAcceptedAtOnceAreNoBreach(t *testing.T) {
	for name, frames := range map[string]int{"while it renders": 4, "while it is packaged": 3} {
		t.Run(name, func(t *testing.T) {
			jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
				jobID := w.Job(t, w.Workspace(t), frames)
				worker := w.Worker(t)
				for range 2 {
					w.Deliver(t, w.ClaimOne(worker), time.Second)
				}
				late := w.ClaimOne(worker)
				w.Advance(-time.Millisecond * 900)
				w.Deliver(t, late, time.Second)
				w.Advance(time.Second)
				w.Read(t, func(ctx context.Context, tx *db.Tx) error {
					_, err := job.Audit(ctx, tx, contract.Published(), func(rule, subject, format string, args ...any) {
						if rule == "a job's times are in order" {
							t.Errorf("%s: "+format, append([]any{subject}, args...)...)
						}
					})
					return err
				})
				if status, _ := w.Status(jobID); (status == job.Packaging) != (frames == 3) {
					t.Errorf("the job is %s", status)
				}
			})
		})
	}
}
