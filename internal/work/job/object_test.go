package job_test

import (
	"context"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/jobtest"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/job"
)

func TestQueuePositionCountsTheJobsAhead(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		ctx, workspaceID := t.Context(), w.Workspace(t)
		first, second, third := w.Job(t, workspaceID, 1), w.Job(t, workspaceID, 1), w.Job(t, workspaceID, 1)
		want := func(jobID string, position int) {
			t.Helper()
			o, err := w.Jobs.Get(ctx, workspaceID, jobID)
			switch {
			case err != nil:
				t.Fatal(err)
			case position == 0 && o.QueuePosition != nil:
				t.Errorf("a %s job has position %d", o.Status, *o.QueuePosition)
			case position != 0 && (o.QueuePosition == nil || *o.QueuePosition != position):
				t.Errorf("position %v, want %d", o.QueuePosition, position)
			}
		}
		want(first, 1)
		want(third, 3)
		w.Write(t, func(ctx context.Context, tx *db.Tx) error {
			_, err := w.Jobs.Cancel(ctx, tx, workspaceID, first)
			return err
		})
		want(first, 0)
		want(second, 1)
		want(third, 2)
	})
}

// A position counts claims and not jobs: each of two workspaces has every second
// one.
func TestQueuePositionOfASecondWorkspaceIsTheNextTurn(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		crowd, single := w.Workspace(t), w.Workspace(t)
		for range 20 {
			w.Job(t, crowd, 3)
		}
		jobID := w.Job(t, single, 3)
		o, err := w.Jobs.Get(t.Context(), single, jobID)
		if err != nil || o.QueuePosition == nil || *o.QueuePosition > 2 {
			t.Errorf("after 20 jobs of another workspace the position is %v (%v), want 2 at most", o.QueuePosition, err)
		}
		if *o.QueuePosition == 2 {
			w.ClaimOne(w.Worker(t))
		}
		if got := w.ClaimOne(w.Worker(t)); got.Subject != jobID {
			t.Errorf("the turn after the first is %s, want %s", got.Subject, jobID)
		}
	})
}

func TestQueuePositionIsCountedUpToABound(t *testing.T) {
	t.Parallel()
	for place, want := range map[int]int{1: 1, 999: 999, 1000: 1000, 54321: 1000} {
		if got := *job.PositionOf(place); got != want {
			t.Errorf("place %d is shown as %d, want %d", place, got, want)
		}
	}
}

// wantWait checks why a job waits; "" is for no reason.
func wantWait(t *testing.T, w *jobtest.World, workspaceID, jobID string, want job.WaitingReason) {
	t.Helper()
	o, err := w.Jobs.Get(t.Context(), workspaceID, jobID)
	if err != nil {
		t.Fatal(err)
	}
	if got := o.WaitingReason; (got == nil) != (want == "") || (got != nil && *got != want) {
		t.Errorf("the job waits because of %v, want %q", got, want)
	}
	page, _, err := w.Jobs.List(t.Context(), job.ListRequest{WorkspaceID: workspaceID, Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	for _, listed := range page {
		wantAsRead(t, w, workspaceID, listed)
	}
}

func TestWaitingReasonNamesWhoIsMissing(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		workspaceID := w.Workspace(t)
		jobID := w.Job(t, workspaceID, 2)
		wantWait(t, w, workspaceID, jobID, job.NoWorkerOnline)
		able := w.Worker(t)
		wantWait(t, w, workspaceID, jobID, "") // it takes a frame with its next request
		other := w.Job(t, w.Workspace(t), 2)
		w.ClaimOne(able)
		busy := w.ClaimOne(w.Worker(t))
		if busy.Subject != other {
			t.Fatalf("the second worker has %s", busy.Subject)
		}
		later := w.Job(t, workspaceID, 2)
		wantWait(t, w, workspaceID, later, job.WorkersBusy)
		wantWait(t, w, workspaceID, jobID, "") // a frame of it is rendered
		w.Advance(dispatch.WorkerOnline + time.Second)
		wantWait(t, w, workspaceID, later, job.NoWorkerOnline)
	})
}

// A worker that idles and may not take the job's frames is not busy, but the answer may
// still say that all others are.
func TestWaitingReasonTellsIncapableWorkersFromBusyOnes(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		workspaceID := w.Workspace(t)
		able, incapable := w.Worker(t), w.Worker(t)
		w.Job(t, workspaceID, 1)
		held := w.ClaimOne(able)
		jobID := w.Job(t, workspaceID, 1)
		w.Fail(w.ClaimOne(incapable), fault.DenoiserUnavailable)
		wantWait(t, w, workspaceID, jobID, job.WorkersBusy)
		w.Deliver(t, held, time.Second)
		wantWait(t, w, workspaceID, jobID, "") // the able one idles
		if err := w.Workers.MarkOffline(t.Context(), able); err != nil {
			t.Fatal(err)
		}
		wantWait(t, w, workspaceID, jobID, "") // no other worker is available: the one that lacked something tries again
	})
}
