package frames_test

import (
	"context"
	"math"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/test/jobtest"
	"svc.example/internal/work/receipt"
)

// TestTimesOfAFrameAreThoseThatCanBeTrue: a worker may say anything. Its report is kept
// if it fits into the time that workers had the job, and otherwise left out.
func TestTimesOfAFrameAreThoseThatCanBeTrue(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		sound := receipt.Times{Load: 1, Sync: 0.25, Render: 2.0000001, Encode: 0.5, Transfer: 0.125, Waiting: 3}
		told := []struct{ told, kept receipt.Times }{
			{sound, receipt.Times{Load: 1, Sync: 0.25, Render: 2, Encode: 0.5, Transfer: 0.125, Waiting: 3}},
			{},
			{told: receipt.Times{Render: -1}},
			{told: receipt.Times{Render: 20, Waiting: -19}},
			{told: receipt.Times{Encode: math.NaN()}},
			{told: receipt.Times{Encode: math.Inf(1)}},
			{told: receipt.Times{Render: 30, Transfer: 30}},
		}
		jobID := w.Job(t, w.Workspace(t), len(told))
		worker := w.Worker(t)
		for i := range told {
			l := w.ClaimOne(worker)
			if i == 0 {
				w.Advance(10 * time.Second)
			}
			p := jobtest.Picture(l, time.Second)
			p.Times = told[l.Item-1].told
			if kept, err := w.Frames.Accept(t.Context(), p); err != nil || !kept {
				t.Fatalf("frame %d is not accepted: %v", l.Item, err)
			}
		}
		w.Read(t, func(ctx context.Context, tx *db.Tx) error {
			for i, want := range told {
				row, err := tx.FrameGet(ctx, query.FrameGetParams{JobID: jobID, Frame: int64(i + 1)})
				if err != nil {
					return err
				}
				if got, err := receipt.ParseTimes(row.Times); err != nil || got != want.kept {
					t.Errorf("a worker said %+v, kept is %+v, %v", want.told, got, err)
				}
			}
			return nil
		})
	})
}
