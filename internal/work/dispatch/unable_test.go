package dispatch_test

import (
	"context"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/lease"
	"svc.example/internal/test/jobtest"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/job"
)

// TestAWorkerThatCannotWorkIsUnableUntilItHasRenderedAFrame: it gets no frames for longer and
// longer, everybody sees why, and its job fails by none of this.
func TestAWorkerThatCannotWorkIsUnableUntilItHasRenderedAFrame(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		jobID := w.Job(t, w.Workspace(t), 1)
		worker := w.Worker(t)
		view := func() (v dispatch.WorkerView, online bool) {
			w.Read(t, func(ctx context.Context, tx *db.Tx) (err error) {
				if online, err = dispatch.AnyOnline(ctx, tx); err == nil {
					v, err = dispatch.FindWorker(ctx, tx, worker)
				}
				return err
			})
			return v, online
		}
		const reason = "no space left on device"
		pauses := []time.Duration{}
		for range 8 {
			held := w.ClaimOne(worker)
			if err := w.Workers.RecordUnable(t.Context(), worker, reason); err != nil {
				t.Fatal(err)
			}
			if err := w.Frames.Release(t.Context(), []lease.Ref{held.Ref()}); err != nil {
				t.Fatal(err)
			}
			w.WantNoFrame(worker)
			v, online := view()
			if v.State != dispatch.WorkerUnable || v.Unable != reason || online {
				t.Fatalf("it is %s for %q, and a worker is online: %v", v.State, v.Unable, online)
			}
			var pause time.Duration
			w.Read(t, func(_ context.Context, tx *db.Tx) error {
				pause = v.SuspendedUntil.Sub(tx.Time())
				return nil
			})
			pauses = append(pauses, pause)
			w.Advance(pause + time.Second)
			w.Seen(worker)
		}
		if first, last := pauses[0], pauses[len(pauses)-1]; first > 5*time.Second || last < 4*time.Minute || last > 5*time.Minute {
			t.Errorf("it gets no frames for %v", pauses)
		}
		if v, _ := view(); v.State != dispatch.WorkerUnable {
			t.Errorf("before it has rendered a frame it is %s", v.State)
		}
		w.Deliver(t, w.ClaimOne(worker), time.Second)
		w.WantStatus(jobID, job.Packaging, "")
		if v, online := view(); v.State != dispatch.WorkerIdle || v.Unable != "" || !online {
			t.Errorf("after a frame it is %s for %q", v.State, v.Unable)
		}
	})
}
