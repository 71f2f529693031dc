package dispatch_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/lease"
	"svc.example/internal/test/jobtest"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/job"
)

// TestAJobStaysWithTheBlenderOfItsFirstFrame, also where several workers hold frames of it and
// none is accepted. It may begin with another one once all its frames wait again.
func TestAJobStaysWithTheBlenderOfItsFirstFrame(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		workspace := w.Workspace(t)
		jobID := w.Job(t, workspace, 4)
		first, same, refuses := w.WorkerOfKind(t, "4.1.1", farmapi.DenoiseKeep), w.WorkerOfKind(t, "4.1.1", farmapi.DenoiseKeep), w.WorkerOfKind(t, "4.1.1", farmapi.DenoiseNone)
		older, off := w.WorkerOfKind(t, "3.4.1", farmapi.DenoiseKeep), w.WorkerOfKind(t, "4.1.1", farmapi.DenoiseOff)
		held := w.ClaimOne(first)
		w.WantNoFrame(older)
		w.WantNoFrame(off)
		again, third := w.ClaimOne(same), w.ClaimOne(refuses) // the frames that it takes are as with a denoiser
		release := func(leases ...lease.Lease) {
			for _, l := range leases {
				if err := w.Frames.Release(t.Context(), []lease.Ref{l.Ref()}); err != nil {
					t.Fatal(err)
				}
			}
		}
		release(held, again)
		w.WantNoFrame(off)
		release(third)
		begun := w.ClaimOne(off)
		w.WantNoFrame(first)
		w.Deliver(t, begun, time.Second)
		for _, other := range []string{first, same, refuses, older} {
			w.WantNoFrame(other)
		}
		// Frames that wait again do not change it now.
		release(w.ClaimOne(off))
		w.WantNoFrame(first)
		wantReason(t, w, workspace, jobID, "")

		wantStranded(t, w, 0)
		leave(t, w, off)
		wantReason(t, w, workspace, jobID, job.NoMatchingBlender)
		wantStranded(t, w, 1)
		if next := w.Job(t, workspace, 1); w.ClaimOne(first).Subject != next {
			t.Error("the workers that a job does not get render no other job")
		}
		w.Write(t, func(ctx context.Context, tx *db.Tx) error { return dispatch.AllowAnyKind(ctx, tx, jobID) })
		wantReason(t, w, workspace, jobID, "")
		for _, l := range []lease.Lease{w.ClaimOne(same), w.ClaimOne(older), w.ClaimOne(refuses)} {
			w.Deliver(t, l, time.Second)
		}
		w.WantStatus(jobID, job.Packaging, "")
		w.CheckTurns()
	})
}

func wantStranded(t *testing.T, w *jobtest.World, want int64) {
	t.Helper()
	w.Read(t, func(ctx context.Context, tx *db.Tx) error {
		n, _, err := dispatch.CountStranded(ctx, tx)
		if err == nil && n != want {
			t.Errorf("%d jobs are stranded, want %d", n, want)
		}
		return err
	})
}

// TestWorkersOfTwoKindsNeverShareAJob, though they ask at the same moment.
func TestWorkersOfTwoKindsNeverShareAJob(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		workspace := w.Workspace(t)
		kind := map[string]string{}
		for _, version := range []string{"3.4.1", "4.1.1"} {
			for range 2 {
				kind[w.WorkerOfKind(t, version, farmapi.DenoiseKeep)] = version
			}
		}
		for range 6 {
			jobID := w.Job(t, workspace, 8)
			var mu sync.Mutex
			var all sync.WaitGroup
			by := map[string]int{}
			for worker := range kind {
				all.Go(func() {
					for {
						work, err := w.Frames.Claim(context.Background(), worker, dispatch.OpenJob{}, 1)
						if err != nil || len(work.Leases) == 0 {
							if err != nil {
								t.Error(err)
							}
							return
						}
						if _, err := w.Frames.Accept(context.Background(), jobtest.Picture(work.Leases[0], time.Second)); err != nil {
							t.Error(err)
							return
						}
						mu.Lock()
						by[kind[worker]]++
						mu.Unlock()
					}
				})
			}
			all.Wait()
			if len(by) != 1 {
				t.Fatalf("frames by version: %v", by)
			}
			w.WantStatus(jobID, job.Packaging, "")
		}
		w.CheckTurns()
	})
}

// TestAJobThatRendersAgainKeepsItsBlender: its stored frames were lost after all were in.
func TestAJobThatRendersAgainKeepsItsBlender(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		w.Job(t, w.Workspace(t), 2)
		first, other := w.WorkerOfKind(t, "3.4.1", farmapi.DenoiseOff), w.WorkerOfKind(t, "3.4.1", farmapi.DenoiseKeep)
		for range 2 {
			w.Deliver(t, w.ClaimOne(first), 8*time.Second)
		}
		var packing []lease.Lease
		w.Write(t, func(ctx context.Context, tx *db.Tx) (err error) {
			packing, err = lease.Claim(ctx, tx, job.PackageQueue, "SRV-test", 1, time.Hour)
			return err
		})
		if err := w.Frames.RenderAgain(t.Context(), packing[0], []int64{1}); err != nil {
			t.Fatal(err)
		}
		w.Advance(time.Minute)
		w.Seen(first, other)
		w.WantNoFrame(other)
		w.ClaimOne(first)
	})
}

// TestAJobThatOnlyUnableWorkersCouldRenderSaysSo instead of that no worker is online.
func TestAJobThatOnlyUnableWorkersCouldRenderSaysSo(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		workspace := w.Workspace(t)
		jobID := w.Job(t, workspace, 1)
		wantReason(t, w, workspace, jobID, job.NoWorkerOnline)
		worker := w.Worker(t)
		wantReason(t, w, workspace, jobID, "")
		held := w.ClaimOne(worker)
		if err := w.Workers.RecordUnable(t.Context(), worker, "no space left on device"); err != nil {
			t.Fatal(err)
		}
		if err := w.Frames.Release(t.Context(), []lease.Ref{held.Ref()}); err != nil {
			t.Fatal(err)
		}
		wantReason(t, w, workspace, jobID, job.WorkersUnable)
		w.Advance(time.Minute) // its pause is over, and it is as unable as before
		w.Seen(worker)
		wantReason(t, w, workspace, jobID, job.WorkersUnable)
		w.Worker(t)
		wantReason(t, w, workspace, jobID, "")
	})
}
