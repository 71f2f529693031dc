package split_test

import (
	"context"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/render/strips"
	"svc.example/internal/work/framecheck"
	"svc.example/internal/work/job"
)

// TestAJobSaysWhyALongFrameIsRenderedWhole: a frame that a worker has, and no other one.
func TestAJobSaysWhyALongFrameIsRenderedWhole(t *testing.T) {
	each(t, 1, func(t *testing.T, w world, workers []string) {
		says := func(when, want string) {
			t.Helper()
			var got string
			w.Read(t, func(ctx context.Context, tx *db.Tx) error {
				record, err := job.Read(ctx, tx, w.job)
				if err == nil {
					got, err = w.Whole(ctx, tx, record)
				}
				return err
			})
			if got != want {
				t.Errorf("%s: it says %q, want %q", when, got, want)
			}
		}
		says("its frame waits", "")
		l := w.ClaimOne(workers[0])
		says("others are free now", "Other workers became free only after it was started.")
		w.newJob(3, strips.Overlap)
		says("others' frames wait", "No other worker of its kind is idle.")
		w.Above = 11 * time.Minute
		says("it is short", "")
		w.Above = 2 * time.Minute
		if err := w.Frames.Fail(t.Context(), l.Ref(), framecheck.Failure{Code: fault.WorkerLost, Message: "gone"}); err != nil {
			t.Fatal(err)
		}
		says("it waits again", "")
		w.Advance(framecheck.LongestRetryDelay)
		for l.Attempt == 1 { // it, or one of the others'
			l = w.ClaimOne(w.Worker(t))
		}
		says("its first attempt failed", "Its last attempt failed, so one worker renders all of it.")
	})
}

// TestAJobSaysWhatItsSceneHasThatIsNotCut as long as its frames take long.
func TestAJobSaysWhatItsSceneHasThatIsNotCut(t *testing.T) {
	each(t, 1, func(t *testing.T, w world, workers []string) {
		whole := w.newJob(2, 0)
		l := w.ClaimOne(workers[0])
		for l.Subject != whole {
			l = w.ClaimOne(workers[1])
		}
		w.deliverFrame(l, false)
		w.Read(t, func(ctx context.Context, tx *db.Tx) error {
			record, err := job.Read(ctx, tx, whole)
			if err != nil {
				return err
			}
			if got, err := w.Whole(ctx, tx, record); err != nil || got != strips.Unproven.Text() {
				t.Errorf("it says %q, %v", got, err)
			}
			return nil
		})
	})
}
