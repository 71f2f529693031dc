package job_test

import (
	"testing"

	"svc.example/internal/test/jobtest"
)

func TestQueuePositionCountsWhoIsAhead(t *testing.T) {
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
		if _, err := w.Jobs.Cancel(ctx, workspaceID, first); err != nil {
			t.Fatal(err)
		}
		want(first, 0)
		want(second, 1)
		want(third, 2)
	})
}

func TestQueuePositionIsNotCountedWithoutEnd(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		workspaceID, last := w.Workspace(t), ""
		for range 1001 {
			last = w.Job(t, workspaceID, 1)
		}
		o, err := w.Jobs.Get(t.Context(), workspaceID, last)
		if err != nil {
			t.Fatal(err)
		}
		if o.QueuePosition == nil || *o.QueuePosition != 1000 {
			t.Errorf("behind a thousand others the position is %v, want 1000", o.QueuePosition)
		}
	})
}
