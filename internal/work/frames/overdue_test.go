package frames_test

import (
	"context"
	"testing"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/job"
	"svc.example/internal/work/wallet"
)

// hold sends a heartbeat of each lease every few seconds for a while, like a worker that
// does nothing else, and has the service look for overdue frames.
func (w *world) hold(holder string, d time.Duration, held ...lease.Lease) {
	w.T.Helper()
	refs, progress := make([]lease.Ref, len(held)), make([]float64, len(held))
	for i, l := range held {
		refs[i] = l.Ref()
	}
	for step := d / 4; d > 0; d -= step {
		w.Advance(step)
		if _, err := w.Frames.Heartbeat(w.T.Context(), holder, refs, progress); err != nil {
			w.T.Fatal(err)
		}
		w.Seen(holder)
		if err := w.Frames.TakeBackOverdue(w.T.Context()); err != nil {
			w.T.Fatal(err)
		}
	}
}

// cancel asks to cancel a job as its owner does.
func (w *world) cancel(workspaceID, jobID string) (o job.Object, err error) {
	err = w.DB.Write(w.T.Context(), func(tx *db.Tx) (err error) {
		o, err = w.Jobs.Cancel(w.T.Context(), tx, workspaceID, jobID)
		return err
	})
	return o, err
}

func (w *world) cancellable(workspaceID, jobID string) bool {
	w.T.Helper()
	o, err := w.Jobs.Get(w.T.Context(), workspaceID, jobID)
	if err != nil {
		w.T.Fatal(err)
	}
	return o.Cancellable
}

func TestAWorkerThatOnlySendsHeartbeatsLosesItsFrames(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.Frames.FrameTime, w.Frames.PlayTime = time.Hour, time.Hour
		longest := w.Frames.FrameTime + contract.TransferTime
		workspace := w.Workspace(t)
		jobID := w.Job(t, workspace, 4)
		hoarder, honest := w.Worker(t), w.Worker(t)
		first := w.ClaimOne(hoarder)
		w.hold(hoarder, longest/2, first)
		second := w.ClaimOne(hoarder)
		w.hold(hoarder, longest/2-time.Minute, first, second)
		w.WantStatus(jobID, job.Rendering, "")
		if _, err := w.cancel(workspace, jobID); !fault.Is(err, fault.RenderNotCancellable) || w.cancellable(workspace, jobID) {
			t.Errorf("a frame is in time, and cancelling answers %v", err)
		}
		w.Seen(honest)
		w.hold(hoarder, 2*time.Minute, first, second)
		w.Seen(honest)
		// It has another frame, and gets no further ones. No other worker has
		// any.
		w.WantNoFrame(hoarder)
		if !w.cancellable(workspace, jobID) {
			t.Error("only a hoarder holds frames, and the job cannot be cancelled")
		}
		other := w.ClaimOne(honest)
		if _, err := w.cancel(workspace, jobID); !fault.Is(err, fault.RenderNotCancellable) || w.cancellable(workspace, jobID) {
			t.Errorf("an honest worker renders, and cancelling answers %v", err)
		}
		if err := w.Frames.Release(t.Context(), []lease.Ref{other.Ref()}); err != nil {
			t.Fatal(err)
		}
		o, err := w.cancel(workspace, jobID)
		if err != nil || o.Status != job.Cancelled {
			t.Fatalf("cancelling: %v", err)
		}
		w.Read(t, func(ctx context.Context, tx *db.Tx) error {
			b, err := wallet.Get(ctx, tx, workspace)
			if b.ReservedCents != 0 {
				t.Errorf("%d cents stay reserved", b.ReservedCents)
			}
			return err
		})
		w.WantNoFrame(honest)
	})
}

// A claim of many frames takes as long as all of them.
func TestAWorkerThatDeliversKeepsItsOtherFrames(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.Frames.FrameTime, w.Frames.PlayTime = time.Hour, time.Hour
		longest := w.Frames.FrameTime + contract.TransferTime
		jobID := w.Job(t, w.Workspace(t), 4)
		worker := w.Worker(t)
		held := w.Claim(t, worker, jobID, 4).Leases
		for len(held) > 1 {
			w.hold(worker, longest-time.Minute, held...)
			w.Deliver(t, held[0], time.Minute)
			held = held[1:]
		}
		w.hold(worker, longest-time.Minute, held...)
		w.WantStatus(jobID, job.Rendering, "")
		// It is alone, so no other worker could render the last one.
		w.hold(worker, 2*time.Minute, held...)
		w.WantStatus(jobID, job.Failed, fault.FrameTimeExceeded)
	})
}

func TestFramesThatDependOnThoseBeforeHaveLonger(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.Frames.FrameTime, w.Frames.PlayTime = time.Hour, time.Hour
		longest := w.Frames.FrameTime + w.Frames.PlayTime + contract.TransferTime
		jobID := w.JobThatPlays(t, w.Workspace(t), 1, 2)
		worker := w.Worker(t)
		held := w.ClaimOne(worker)
		w.hold(worker, longest-time.Minute, held)
		w.WantStatus(jobID, job.Rendering, "")
		w.hold(worker, 2*time.Minute, held)
		w.WantStatus(jobID, job.Failed, fault.FrameTimeExceeded)
	})
}

func TestANodeKeyHoldsItsShareOfTheFrames(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		jobID := w.Job(t, w.Workspace(t), 30)
		hoarding := w.NodeKey(t)
		var hoarders []string
		for range 10 {
			hoarders = append(hoarders, w.WorkerOf(t, hoarding))
		}
		honest, third := w.Worker(t), w.Worker(t)
		var held []lease.Lease
		for _, worker := range hoarders {
			held = append(held, w.Claim(t, worker, jobID, 64).Leases...)
		}
		if len(held) != 10 {
			t.Errorf("one of three keys holds %d of 30 frames", len(held))
		}
		for _, worker := range []string{honest, third} {
			if n := len(w.Claim(t, worker, jobID, 64).Leases); n != 10 {
				t.Errorf("another key got %d frames", n)
			}
		}
	})
}

// A large farm does not idle next to a small one.
func TestAWorkerOfWhomAFrameWasAcceptedHasOneWhateverTheShare(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		workspace, farm := w.Workspace(t), w.NodeKey(t)
		var workers []string
		for range 6 {
			workers = append(workers, w.WorkerOf(t, farm))
		}
		w.Worker(t) // of another key
		w.Job(t, workspace, 6)
		var held []lease.Lease
		for _, worker := range workers[:4] {
			held = append(held, w.ClaimOne(worker))
		}
		w.WantNoFrame(workers[4])
		for _, l := range held {
			w.Deliver(t, l, time.Second)
		}
		for _, worker := range workers[4:] {
			w.Deliver(t, w.ClaimOne(worker), time.Second)
		}
		w.Job(t, workspace, 6)
		for _, worker := range workers {
			w.ClaimOne(worker)
		}
	})
}
