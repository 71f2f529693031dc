package job_test

import (
	"context"
	"testing"

	"svc.example/internal/ground/db"
	"svc.example/internal/test/jobtest"
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

func TestQueuePositionIsCountedUpToABound(t *testing.T) {
	if job.FarthestPosition != 1000 {
		t.Errorf("positions are counted up to %d, want 1000 (spec 2.6)", job.FarthestPosition)
	}
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		workspaceID, last := w.Workspace(t), ""
		for range 5 {
			last = w.Job(t, workspaceID, 1)
		}
		for farthest, want := range map[int64]int64{3: 3, 4: 4, 5: 5, job.FarthestPosition: 5} {
			w.Read(t, func(ctx context.Context, tx *db.Tx) error {
				view, err := job.ReadView(ctx, tx, last, farthest)
				if err == nil && view.Position != want {
					t.Errorf("the fifth job, counted up to %d, has position %d, want %d", farthest, view.Position, want)
				}
				return err
			})
		}
	})
}
