package split_test

import (
	"context"
	"strings"
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

// TestAPreviewCountsForTheSameFileUploadedAgain: a caller looks at a file first, and then sends it
// again for the job; a preview of another file, or of another workspace, tells nothing.
func TestAPreviewCountsForTheSameFileUploadedAgain(t *testing.T) {
	const scene = `{"frame_width": 8, "frame_height": 59, "output_format": "PNG", "strip_overlap": 1}`
	each(t, 0, func(t *testing.T, w world, _ []string) {
		job := func(workspace, sum string) string { return w.JobOver(t, workspace, 1, sum, scene) }
		own, other := w.Workspace(t), w.Workspace(t)
		file, edited := strings.Repeat("a", 64), strings.Repeat("b", 64)
		w.previewOf(job(own, file), 10*time.Minute, "")
		for _, c := range []struct {
			workspace, sum string
			want           bool
		}{{own, file, true}, {own, edited, false}, {other, file, false}} {
			jobID := job(c.workspace, c.sum)
			var us int64
			w.Read(t, func(ctx context.Context, tx *db.Tx) (err error) {
				us, err = tx.StripPreviewed(ctx, jobID)
				return err
			})
			if known := us > 0; known != c.want {
				t.Errorf("%s of %s: a frame is expected to take %d us; want that it is known: %v", c.sum[:1], c.workspace, us, c.want)
			}
		}
	})
}

// TestOnlyPreviewsOfScenesThatMayBeCutAreMeasured: the bands of others are used for nothing.
func TestOnlyPreviewsOfScenesThatMayBeCutAreMeasured(t *testing.T) {
	each(t, 0, func(t *testing.T, w world, workers []string) { // no frame waits, so that workers take previews
		whole := w.newJob(1, 0)
		w.deliverFrame(w.ClaimOne(workers[1]), false)
		for i, c := range []struct {
			job  string
			want bool
		}{{w.job, true}, {whole, false}} {
			p, _ := w.ordered(c.job)
			if work, ok, err := p.Claim(t.Context(), workers[i]); err != nil || !ok || work.Divisible != c.want {
				t.Errorf("claimed %+v, %v, %v; want that it may be cut: %v", work, ok, err, c.want)
			}
		}
	})
}

// previewed gives the job's upload a preview whose bands took some times.
func (w world) previewed(bands string) {
	w.t.Helper()
	w.previewOf(w.job, time.Microsecond, bands)
}

// previewOf gives a job's upload a preview by which a frame takes so long.
func (w world) previewOf(jobID string, frame time.Duration, bands string) {
	w.t.Helper()
	_, previewID := w.ordered(jobID)
	w.Write(w.t, func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.MarkPreviewReady(ctx, query.MarkPreviewReadyParams{PreviewID: previewID, Now: tx.Now, FrameUs: frame.Microseconds(), Bands: bands})
		return err
	})
}

// ordered orders a preview of a job's upload.
func (w world) ordered(jobID string) (p *preview.Previews, previewID string) {
	w.t.Helper()
	p = &preview.Previews{DB: w.World.DB, Limits: preview.Limits{Upload: 3, Day: 20}, LeaseLife: 20 * time.Second}
	w.Write(w.t, func(ctx context.Context, tx *db.Tx) error {
		of, err := tx.JobGet(ctx, jobID)
		if err != nil {
			return err
		}
		v, err := p.Order(ctx, tx, of.WorkspaceID, of.UploadID, nil)
		previewID = v.PreviewID
		return err
	})
	return p, previewID
}
