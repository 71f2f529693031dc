package split_test

import (
	"context"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/render/strips"
	"svc.example/internal/work/preview"
	"svc.example/internal/work/split"
)

// TestAFrameIsCutByWhatItsBandsTake: the strips of a frame whose preview was measured in bands take
// equally long, and are not equally high.
func TestAFrameIsCutByWhatItsBandsTake(t *testing.T) {
	each(t, 1, func(t *testing.T, w world, workers []string) {
		w.previewed("[1.5,1,1]")
		first := w.cut(workers[0], 3)
		second, third := w.next(workers[1]), w.next(workers[2])
		for i, want := range []strips.Rows{{From: 0, To: 16}, {From: 16, To: 37}, {From: 37, To: height}} {
			if got := []*split.Strip{first.Strip, second.Strip, third.Strip}[i].Rows; got != want {
				t.Errorf("strip %d has the rows %v, want %v", i, got, want)
			}
		}
		w.deliver(first, second, third)
		w.wantFinished(workers[1], 3)
	})
}

// previewed gives the job's upload a preview whose bands took some times.
func (w world) previewed(bands string) {
	w.t.Helper()
	p := &preview.Previews{DB: w.World.DB, Limits: preview.Limits{Upload: 3, Day: 20}, LeaseLife: 20 * time.Second}
	w.Write(w.t, func(ctx context.Context, tx *db.Tx) error {
		of, err := tx.JobGet(ctx, w.job)
		if err != nil {
			return err
		}
		ordered, err := p.Order(ctx, tx, of.WorkspaceID, of.UploadID, nil)
		if err != nil {
			return err
		}
		_, err = tx.MarkPreviewReady(ctx, query.MarkPreviewReadyParams{PreviewID: ordered.PreviewID, Now: tx.Now, FrameUs: 1, Bands: bands})
		return err
	})
}
