package frames_test

import (
	"context"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/lease"
	"svc.example/internal/test/jobtest"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/frames"
	"svc.example/internal/work/job"
)

const keep = 30 * 24 * time.Hour

// deliverLogged delivers a sound picture with Blender's output.
func (w *world) deliverLogged(l lease.Lease) {
	w.T.Helper()
	p := jobtest.Picture(l, time.Second)
	p.Log = "Saved: frame.png"
	if _, err := w.Frames.Accept(w.T.Context(), p); err != nil {
		w.T.Fatal(err)
	}
}

// broken makes a job of two frames of which one is rendered; the other fails on both
// workers, which ends the job.
func (w *world) broken(workspace, first, second string) (jobID string) {
	w.T.Helper()
	jobID = w.Job(w.T, workspace, 2)
	w.deliverLogged(w.ClaimOne(first))
	w.failFinally(w.ClaimOne(first))
	w.failFinally(w.ClaimOne(second))
	w.WantStatus(jobID, job.Failed, fault.OutOfMemory)
	return jobID
}

// wantKept checks whether the failed attempts of a job and the log of its first frame are
// there.
func (w *world) wantKept(jobID string, want bool) {
	w.T.Helper()
	w.Read(w.T, func(ctx context.Context, tx *db.Tx) error {
		attempts, err := tx.FailedAttemptsOfJob(ctx, query.FailedAttemptsOfJobParams{JobID: jobID, Max: 10})
		if err != nil {
			return err
		}
		frame, err := tx.FrameGet(ctx, query.FrameGetParams{JobID: jobID, Frame: 1})
		if (len(attempts) > 0) != want || (frame.Log != "") != want {
			w.T.Errorf("the job has %d failed attempts and the log %q; kept: want %t", len(attempts), frame.Log, want)
		}
		return err
	})
}

func TestWorkersAndLogsAreForgottenOnceNothingNeedsThem(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		workspace := w.Workspace(t)
		first, second, holder := w.Worker(t), w.Worker(t), w.Worker(t)
		ended := w.broken(workspace, first, second)
		goesOn := w.Job(t, workspace, 2)
		w.deliverLogged(w.ClaimOne(first))
		w.Fail(w.ClaimOne(first), fault.BlenderCrashed)
		held := w.ClaimOne(holder)

		w.Advance(keep + time.Hour)
		newer, other := w.Worker(t), w.Worker(t)
		late := w.broken(workspace, newer, other)
		for what, c := range map[string]struct {
			forget func(context.Context, *db.DB, time.Duration) (int64, error)
			want   int64
		}{
			"workers":         {dispatch.ForgetWorkers, 2},
			"failed attempts": {dispatch.ForgetFailedAttempts, 2},
			"logs":            {frames.ForgetLogs, 1},
		} {
			for _, want := range []int64{c.want, 0} {
				if n, err := c.forget(t.Context(), w.DB, keep); n != want || err != nil {
					t.Errorf("%d %s are forgotten, %v; want %d", n, what, err, want)
				}
			}
		}
		w.wantKept(ended, false)
		w.wantKept(goesOn, true)
		w.wantKept(late, true)
		w.Deliver(t, held, time.Second) // its worker is still known
	})
}

// What is forgotten in one go takes many small transactions.
func TestForgettingGoesByPages(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		key := w.NodeKey(t)
		w.Write(t, func(ctx context.Context, tx *db.Tx) error {
			for range 1001 {
				err := dispatch.AddWorker(ctx, tx, dispatch.Worker{WorkerID: id.New(id.Node), KeyID: key, Name: "test", Renderer: "blender", Device: "GPU"})
				if err != nil {
					return err
				}
			}
			return nil
		})
		w.Advance(keep + time.Hour)
		if n, err := dispatch.ForgetWorkers(t.Context(), w.DB, keep); n != 1001 || err != nil {
			t.Errorf("%d workers are forgotten, %v", n, err)
		}
	})
}
