package job_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/id"
	"svc.example/internal/test/jobtest"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/job"
)

// wantEstimate checks what the estimate of a live job rests on, "" for none, and that it
// is never 0, lies in its range, and is listed as it is read.
func wantEstimate(t *testing.T, w *jobtest.World, workspaceID, jobID string, basis job.EstimateBasis, low, high float64) job.Object {
	t.Helper()
	o, err := w.Jobs.Get(t.Context(), workspaceID, jobID)
	if err != nil {
		t.Fatal(err)
	}
	if (o.ETASeconds == nil) != (basis == "") || (o.ETABasis == nil) != (basis == "") || (o.ETARange == nil) != (basis == "") {
		t.Fatalf("a %s job has the estimate %v, %v by %v, want %q", o.Status, o.ETASeconds, o.ETARange, o.ETABasis, basis)
	}
	if basis != "" && (*o.ETABasis != basis || *o.ETASeconds <= 0 || o.ETARange.LowSeconds <= 0 || o.ETARange.LowSeconds > *o.ETASeconds || o.ETARange.HighSeconds < *o.ETASeconds) {
		t.Errorf("the estimate is %v, %v by %v, want %q", *o.ETASeconds, *o.ETARange, *o.ETABasis, basis)
	}
	if got := o.SecondsPerFrameLow; (got == nil) != (low == 0) || (got != nil && *got != low) {
		t.Errorf("the shortest frame took %v, want %v", got, low)
	}
	if got := o.SecondsPerFrameHigh; (got == nil) != (high == 0) || (got != nil && *got != high) {
		t.Errorf("the longest frame took %v, want %v", got, high)
	}
	page, _, err := w.Jobs.List(t.Context(), job.ListRequest{WorkspaceID: workspaceID, Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	for _, listed := range page {
		wantAsRead(t, w, workspaceID, listed)
	}
	return o
}

// renderOne renders one frame in simulated time.
func renderOne(t *testing.T, w *jobtest.World, worker string, took time.Duration) {
	t.Helper()
	l := w.ClaimOne(worker)
	w.Advance(took)
	w.Seen(worker)
	w.Deliver(t, l, took)
}

func TestAnEstimateRestsOnTheBestThatIsKnown(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		workspaceID, worker := w.Workspace(t), w.Worker(t)
		first := w.Job(t, workspaceID, 4)
		wantEstimate(t, w, workspaceID, first, "", 0, 0) // nothing is known
		renderOne(t, w, worker, 4*time.Second)
		wantEstimate(t, w, workspaceID, first, job.FirstFrames, 4, 4)
		renderOne(t, w, worker, 6*time.Second)
		renderOne(t, w, worker, 5*time.Second)
		wantEstimate(t, w, workspaceID, first, job.JobFrames, 4, 6)
		renderOne(t, w, worker, 5*time.Second)
		w.Write(t, complete(first))

		second := w.Job(t, workspaceID, 10)
		o := wantEstimate(t, w, workspaceID, second, job.SimilarScenes, 4, 6)
		if *o.ETASeconds != 50 || o.ETARange.LowSeconds != 40 || o.ETARange.HighSeconds != 60 {
			t.Errorf("ten frames of 5 s take %v (%v)", *o.ETASeconds, *o.ETARange)
		}
		// Another workspace's job over the same file needs as much, and gets half of the
		// time.
		stranger := w.Workspace(t)
		rival := w.Job(t, stranger, 10)
		wantEstimate(t, w, stranger, rival, "", 0, 0) // it sees nothing of what the first one rendered
		if o = wantEstimate(t, w, workspaceID, second, job.SimilarScenes, 4, 6); *o.ETASeconds != 100 || o.ETARange.LowSeconds != 40 {
			t.Errorf("with a rival the ten frames take %v (%v)", *o.ETASeconds, *o.ETARange)
		}
		// A free preview of its own upload says more than what was rendered before.
		w.Write(t, looked(second, 7*time.Second, 8*time.Second, 9*time.Second))
		if o = wantEstimate(t, w, workspaceID, second, job.FreePreview, 7, 9); *o.ETASeconds != 160 {
			t.Errorf("by a preview the ten frames take %v (%v)", *o.ETASeconds, *o.ETARange)
		}
		if err := w.Workers.MarkOffline(t.Context(), worker); err != nil {
			t.Fatal(err)
		}
		wantEstimate(t, w, workspaceID, second, "", 7, 9) // it is unknown when a worker comes
	})
}

// A read of the queue is shared for a while. One from before the worker came does not
// remove the estimate of a job that the worker renders.
func TestAJobInAWorkersHandsIsEstimatedByAnOldForecast(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		w.Jobs.Queue = &dispatch.Forecasts{Life: time.Hour}
		workspaceID := w.Workspace(t)
		jobID := w.Job(t, workspaceID, 3)
		wantEstimate(t, w, workspaceID, jobID, "", 0, 0) // no worker is available
		worker := w.Worker(t)
		renderOne(t, w, worker, 4*time.Second)
		w.ClaimOne(worker)
		wantEstimate(t, w, workspaceID, jobID, job.FirstFrames, 4, 4)
	})
}

// An edited file keeps its name. What its scene took before counts by the pixels and
// samples of both.
func TestAnEditedSceneIsEstimatedByItsWork(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		workspaceID, worker := w.Workspace(t), w.Worker(t)
		before := w.JobOver(t, workspaceID, 3, strings.Repeat("a", 64), `{"engine": "CYCLES", "output_format": "PNG", "resolution_x": 8, "resolution_y": 6, "resolution_percentage": 100, "samples": 16}`)
		for _, took := range []time.Duration{4, 5, 6} {
			renderOne(t, w, worker, took*time.Second)
		}
		w.Write(t, complete(before))
		finer := w.JobOver(t, workspaceID, 10, strings.Repeat("b", 64), `{"engine": "CYCLES", "output_format": "PNG", "resolution_x": 8, "resolution_y": 6, "resolution_percentage": 100, "samples": 32}`)
		if o := wantEstimate(t, w, workspaceID, finer, job.SimilarScenes, 4, 24); *o.ETASeconds != 100 {
			t.Errorf("ten frames of twice 5 s take %v (%v)", *o.ETASeconds, *o.ETARange)
		}
		huge := w.JobOver(t, workspaceID, 10, strings.Repeat("c", 64), `{"engine": "CYCLES", "output_format": "PNG", "resolution_x": 800, "resolution_y": 600, "resolution_percentage": 100, "samples": 32}`)
		wantEstimate(t, w, workspaceID, huge, "", 0, 0)
	})
}

// looked gives a job's upload a free preview by which a frame takes so long. Estimates do
// not depend on who made it, or how.
func looked(jobID string, low, mean, high time.Duration) func(ctx context.Context, tx *db.Tx) error {
	return func(ctx context.Context, tx *db.Tx) error {
		record, err := job.Read(ctx, tx, jobID)
		if err != nil {
			return err
		}
		previewID := id.New(id.Preview)
		err = tx.PreviewCreate(ctx, query.PreviewCreateParams{
			PreviewID: previewID, WorkspaceID: record.WorkspaceID, UploadID: record.UploadID, Frame: 1, Status: "queued", Ordinal: 1, CreatedAt: tx.Now,
		})
		if err != nil {
			return err
		}
		_, err = tx.MarkPreviewReady(ctx, query.MarkPreviewReadyParams{
			Now: tx.Now, FrameLowUs: low.Microseconds(), FrameUs: mean.Microseconds(), FrameHighUs: high.Microseconds(), RenderUs: 1, PreviewID: previewID,
		})
		return err
	}
}

// complete ends a packed job without its receipt, which no estimate looks at.
func complete(jobID string) func(ctx context.Context, tx *db.Tx) error {
	return func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.JobMove(ctx, query.JobMoveParams{ToStatus: string(job.Completed), Now: tx.Now, JobID: jobID, FromStatus: string(job.Packaging)})
		if err == nil && n != 1 {
			err = errors.New("the job is not in packaging")
		}
		return err
	}
}
