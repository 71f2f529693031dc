package workers_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"testing"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/render/blender"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/await"
	"svc.example/internal/test/story"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/farmapi"
)

// A worker cannot say that the service's own store is at fault: that needs no second key.
func TestNoWorkerReportsAFaultOfTheStore(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		w := svc.ManualWorker()
		job := c.StartFrames(1)
		got, err := w.LeaseOne(t.Context())
		if err != nil || len(got.Leases) != 1 {
			t.Fatalf("leased %+v, %v", got, err)
		}
		err = w.Fail(t.Context(), farmapi.FailRequest{WorkerID: w.ID, LeaseID: got.Leases[0].LeaseID, Attempt: got.Leases[0].Attempt, Code: "packaging_failed", Final: true})
		if refusal, refused := errors.AsType[*farmapi.Error](err); !refused || refusal.Code != "invalid_request" {
			t.Errorf("got %v, want invalid_request", err)
		}
		if err := w.DeliverResult(t, got); err != nil {
			t.Fatal(err)
		}
		c.Await(job.JobID, client.StatusCompleted)
	})
}

// liar has a node key and fails everything. It takes a new worker's name for each lie.
type liar struct {
	*farmapi.Client
	lies int
}

// lie fails the next frame for good; false if it gets none.
func (l *liar) lie(ctx context.Context) (bool, error) {
	worker, err := l.Register(ctx, farmapi.RegisterRequest{
		Name: fmt.Sprint("machine ", l.lies), BlenderVersion: "4.1.1", BlenderBuildHash: "story", Device: "GPU", DeviceName: "Story GPU", Denoise: "keep",
	})
	if err != nil {
		return false, err
	}
	got, err := l.Lease(ctx, farmapi.LeaseRequest{WorkerID: worker.WorkerID, Max: 1})
	if err != nil || len(got.Leases) == 0 {
		return false, err
	}
	l.lies++
	return true, l.Fail(ctx, farmapi.FailRequest{
		WorkerID: worker.WorkerID, LeaseID: got.Leases[0].LeaseID, Attempt: got.Leases[0].Attempt, Code: "blender_crashed", Message: "It never works.", Final: true,
	})
}

func TestALyingNodeFailsNoJobAndIsPaused(t *testing.T) {
	const jobs = 25
	story.Each(t, func(t *testing.T, config app.Config) {
		var log story.Logged
		config.Log = slog.New(slog.NewTextHandler(apptest.LogWriter(t, &log), nil))
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		g := story.BarrierAt(1)
		svc.Worker(&story.Painter{Before: g.Pass}) // the honest one, slow at first
		started := make([]*client.Job, jobs)
		for i := range started {
			started[i] = c.StartFrames(1)
		}
		if _, err := g.Await(story.Patient(t)); err != nil {
			t.Fatal(err)
		}
		key := svc.NodeKey()
		node := &liar{Client: farmapi.NewClient(svc.URL, key.Secret)}
		for {
			lied, err := node.lie(story.Patient(t))
			if err != nil {
				t.Fatal(err)
			}
			if !lied {
				break
			}
		}
		if node.lies != jobs-1 {
			t.Errorf("the liar failed %d frames, want each once but the one that is being rendered", node.lies)
		}
		g.Open()
		for _, job := range started {
			c.Await(job.JobID, client.StatusCompleted)
		}
		await.Until(t, "the pause of the liar's key", func() bool { return log.Has("level=WARN", "node key paused", key.KeyID) })
		svc.Read(func(ctx context.Context, tx *db.Tx) error {
			paused, err := dispatch.PausedKeys(ctx, tx)
			if err == nil && (len(paused) != 1 || paused[0].KeyID != key.KeyID || paused[0].Until.Before(tx.Time())) {
				err = fmt.Errorf("the paused keys are %+v", paused)
			}
			return err
		})
		late := c.StartFrames(1)
		for range 3 {
			if lied, err := node.lie(story.Patient(t)); lied || err != nil {
				t.Fatalf("a worker of a paused key got a frame (%t), %v", lied, err)
			}
		}
		c.Await(late.JobID, client.StatusCompleted)
	})
}

// A worker that paints another picture, well formed and of the right size, is found out
// by comparing: c.fetch checks every pixel that is delivered.
func TestAWorkerThatPaintsOtherPixelsIsFoundOut(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		config.DoubleRender = 100
		var log story.Logged
		config.Log = slog.New(slog.NewTextHandler(apptest.LogWriter(t, &log), nil))
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		svc.Worker(&defectiveRenderer{
			chosen: func(int) bool { return true },
			defect: func(f *blender.Frame) error {
				picture, err := story.Paint(f.Number + 1)
				if err != nil {
					return err
				}
				return os.WriteFile(f.Path, picture, 0o600)
			},
		})
		g := story.BarrierAt(1)
		svc.Worker(&story.Painter{Before: g.Pass})
		svc.Worker(&story.Painter{Before: g.Pass})
		job := c.StartFrames(5)
		// The liar has painted a frame before the others come to one each.
		await.Until(t, "the liar's first picture", func() (painted bool) {
			svc.Read(func(ctx context.Context, tx *db.Tx) error {
				waiting, err := tx.CandidateFrames(ctx, 1)
				painted = len(waiting) > 0
				return err
			})
			return painted
		})
		g.Open()
		c.Fetch(c.Await(job.JobID, client.StatusCompleted), 5)
		svc.SettledOnce(c, 5) // the second rendering costs nothing
		await.Until(t, "what the operator is told", func() bool { return log.Has("level=WARN", "painted other pixels than two others") })
	})
}
