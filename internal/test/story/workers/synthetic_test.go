package workers_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/await"
	"svc.example/internal/test/story"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/operator"
	"svc.example/internal/work/synthetic"
	"svc.example/internal/work/worker"
)

func TestASyntheticWorkerIsLetInOnlyWhereTheServiceSaysSo(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		config.AllowSynthetic = true
		svc := story.Start(t, config)
		key := svc.NodeKey().Secret
		register := func() (farmapi.RegisterReply, error) {
			return farmapi.NewClient(svc.URL, key).Register(t.Context(), farmapi.RegisterRequest{
				Name: "x", Renderer: contract.SyntheticRenderer, BlenderVersion: "none", Device: "CPU", DeviceName: "x", Denoise: "keep",
			})
		}
		let, err := register()
		if err != nil {
			t.Fatalf("where it is allowed: %v", err)
		}
		svc.Config.AllowSynthetic = false
		svc.Restart()
		if _, err := register(); !refusedWith(err, "synthetic_refused") {
			t.Errorf("where it is not allowed: %v", err)
		}
		// A worker that was let in before does not continue either.
		if _, err := farmapi.NewClient(svc.URL, key).Lease(t.Context(), farmapi.LeaseRequest{WorkerID: let.WorkerID, Max: 1}); !refusedWith(err, "synthetic_refused") {
			t.Errorf("one that was let in before: %v", err)
		}
		if _, err := farmapi.NewClient(svc.URL, key).Register(t.Context(), farmapi.RegisterRequest{Renderer: "other", Device: "CPU"}); !refusedWith(err, "invalid_request") {
			t.Errorf("another renderer: %v", err)
		}
		refused := worker.New(worker.Config{
			Farm: farmapi.NewClient(svc.URL, key), Renderer: synthetic.Renderer{}, WorkDir: t.TempDir(), Name: "x", Log: story.LogOf(t),
		})
		if err := refused.Run(story.Patient(t)); !refusedWith(err, "synthetic_refused") {
			t.Errorf("the worker ends with %v", err)
		}
	})
}

func refusedWith(err error, code string) bool {
	refusal, ok := errors.AsType[*farmapi.Error](err)
	return ok && refusal.Code == code
}

func TestASyntheticJobSaysSoEverywhere(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		config.AllowSynthetic = true
		var log strings.Builder
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		job := c.StartFrames(3)
		stop := svc.Worker(synthetic.Renderer{}, func(w *worker.Config) { w.Log = slog.New(slog.NewTextHandler(apptest.LogWriter(t, &log), nil)) })
		done := c.Await(job.JobID, client.StatusCompleted)
		if done.Renderer != contract.SyntheticRenderer || done.Application != contract.SyntheticApplication || done.Version != "none" ||
			done.Engine != "none" || done.RenderDevice != "CPU" || done.DeviceName != synthetic.DeviceName {
			t.Errorf("the job looks real: %+v", done)
		}
		receipt, err := c.Receipt(story.Patient(t), job.JobID)
		if err != nil || !bytes.Contains(receipt.Members, []byte(`"renderer":{"id":"synthetic","application":"synthetic renderer, no Blender"`)) {
			t.Errorf("the receipt looks real: %s, %v", receipt.Members, err)
		}
		keys, err := c.SigningKeys(story.Patient(t))
		if err != nil {
			t.Fatal(err)
		}
		if checks, err := client.Verify(receipt, keys, nil, 0); err != nil || !strings.Contains(fmt.Sprint(checks), "NOT rendered") {
			t.Errorf("the verified receipt looks real: %v, %v", checks, err)
		}
		for name, text := range c.Texts(job.JobID) {
			if !strings.Contains(text, contract.SyntheticApplication) {
				t.Errorf("%s looks real:\n%s", name, text)
			}
		}
		stop()
		if !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), "synthetic") {
			t.Errorf("the worker's log looks real:\n%s", log.String())
		}
		svc.SettledOnce(c, 3)
	})
}

func TestOneSyntheticFrameMakesTheJobSynthetic(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		config.AllowSynthetic = true
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		job := c.StartFrames(2)
		// The first frame is painted, what comes then hangs until a real worker has it.
		draws := []float64{0.9, 0.5, 0.1}
		stop := svc.Worker(synthetic.Renderer{
			Faults: map[synthetic.Fault]float64{synthetic.Hang: 0.2},
			Random: func() float64 { next := draws[0]; draws = draws[min(1, len(draws)-1):]; return next },
		}, func(w *worker.Config) { w.Grace = time.Millisecond })
		c.AwaitFrames(job.JobID, 1)
		stop()
		svc.Worker(&story.Painter{})
		// It is of another version, so it gets nothing of the job until an operator says so.
		await.Until(t, "the job waits for its own Blender", func() bool {
			waits, err := c.Job(story.Patient(t), job.JobID)
			return err == nil && waits.WaitingReason == "no_matching_blender"
		})
		svc.Write(func(ctx context.Context, tx *db.Tx) error {
			act, err := operator.AnyBlender(ctx, tx, job.JobID, "its worker is gone")
			if err == nil {
				err = act.Perform(ctx, tx, operator.Account("root"))
			}
			return err
		})
		if done := c.Await(job.JobID, client.StatusCompleted); done.Renderer != contract.SyntheticRenderer || done.Application != contract.SyntheticApplication {
			t.Errorf("the job looks real: %+v", done)
		}
		receipt, err := c.Receipt(story.Patient(t), job.JobID)
		if err != nil || bytes.Count(receipt.Members, []byte(`"version":"4.1.1"`)) != 1 || bytes.Count(receipt.Members, []byte(`"version":"none"`)) != 1 {
			t.Errorf("the receipt does not name the version of each frame: %s, %v", receipt.Members, err)
		}
		svc.SettledOnce(c, 2)
	})
}

// TestACrowdOfWorkersLosesNoFrameAndRendersNoneTwice is the scale run of the
// benchmark in small: the audit at its end counts the frames.
func TestACrowdOfWorkersLosesNoFrameAndRendersNoneTwice(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		const workers, frames = 40, 100
		config.AllowSynthetic = true
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		for range workers {
			svc.Worker(synthetic.Renderer{FrameTime: 20 * time.Millisecond, Jitter: 0.5})
		}
		job := c.StartFrames(frames)
		seen := map[int]int{}
		for e, err := range c.Follow(story.Patient(t), job.JobID, "") {
			if err != nil {
				t.Fatal(err)
			}
			if e.Frame != nil {
				seen[e.Frame.Frame]++
			}
		}
		for frame := 1; frame <= frames; frame++ {
			if seen[frame] != 1 {
				t.Errorf("frame %d was reported %d times", frame, seen[frame])
			}
		}
		svc.SettledOnce(c, frames)
	})
}
