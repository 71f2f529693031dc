package dispatch_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/jobtest"
	"svc.example/internal/work/dispatch"
)

// TestAuditSeesAChangedWorkerOrTurn damages what a worker registered with, its trust, a
// failed attempt, and the turns of a job and of its workspace.
func TestAuditSeesAChangedWorkerOrTurn(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		worker, workspace := w.Worker(t), w.Workspace(t)
		w.Job(t, workspace, 3)
		w.Deliver(t, w.ClaimOne(worker), time.Second)
		w.Fail(w.ClaimOne(worker), "blender_crashed")
		w.Write(t, func(ctx context.Context, tx *db.Tx) error { return w.Workers.RecordFault(ctx, tx, worker) })
		audit := func(tx *db.Tx) (breaches int, err error) {
			err = dispatch.Audit(t.Context(), tx, func(string, string, string, ...any) { breaches++ })
			return breaches, err
		}
		w.Read(t, func(_ context.Context, tx *db.Tx) error {
			n, err := audit(tx)
			if n > 0 {
				t.Errorf("unharmed, there are %d breaches", n)
			}
			return err
		})
		// When a worker was seen and how much time a workspace had cannot be derived from
		// anything else, and how runs are cut changes no frame. What a job needs follows
		// from its scene, which this audit does not read. Its kind follows from workers that
		// may be forgotten.
		want := []string{"worker.seen_at", "worker.left_at", "turn.served_us", "turn.plays", "turn.plays_from", "turn.played", "turn.play_us", "turn.needs", "turn.kind", "turn.priority"}
		if unseen := dbtest.Unseen(t, w.URL, audit, "worker", "failed_attempt", "turn"); !slices.Equal(unseen, want) {
			t.Errorf("the audit does not see damage of %v, want %v", unseen, want)
		}
	})
}
