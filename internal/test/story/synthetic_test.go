package story_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/contract"
	"svc.example/internal/test/apptest"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/synthetic"
	"svc.example/internal/work/worker"
)

func TestASyntheticWorkerIsLetInOnlyWhereTheServiceSaysSo(t *testing.T) {
	each(t, func(t *testing.T, config app.Config) {
		config.AllowSynthetic = true
		svc := start(t, config)
		key := svc.nodeKey().Secret
		register := func() (farmapi.RegisterReply, error) {
			return farmapi.NewClient(svc.url, key).Register(t.Context(), farmapi.RegisterRequest{
				Name: "x", Renderer: contract.SyntheticRenderer, BlenderVersion: "none", Device: "CPU", DeviceName: "x", Denoise: "keep",
			})
		}
		let, err := register()
		if err != nil {
			t.Fatalf("where it is allowed: %v", err)
		}
		svc.config.AllowSynthetic = false
		svc.restart()
		if _, err := register(); !refusedWith(err, "synthetic_refused") {
			t.Errorf("where it is not allowed: %v", err)
		}
		// Nor does one that was let in before go on.
		if _, err := farmapi.NewClient(svc.url, key).Lease(t.Context(), farmapi.LeaseRequest{WorkerID: let.WorkerID, Max: 1}); !refusedWith(err, "synthetic_refused") {
			t.Errorf("one that was let in before: %v", err)
		}
		if _, err := farmapi.NewClient(svc.url, key).Register(t.Context(), farmapi.RegisterRequest{Renderer: "other", Device: "CPU"}); !refusedWith(err, "invalid_request") {
			t.Errorf("another renderer: %v", err)
		}
		refused := worker.New(worker.Config{
			Farm: farmapi.NewClient(svc.url, key), Renderer: synthetic.Renderer{}, WorkDir: t.TempDir(), Name: "x", Log: logOf(t),
		})
		if err := refused.Run(patient(t)); !refusedWith(err, "synthetic_refused") {
			t.Errorf("the worker ends with %v", err)
		}
	})
}

func refusedWith(err error, code string) bool {
	refusal, ok := errors.AsType[*farmapi.Error](err)
	return ok && refusal.Code == code
}

func TestASyntheticJobSaysSoEverywhere(t *testing.T) {
	each(t, func(t *testing.T, config app.Config) {
		config.AllowSynthetic = true
		var log strings.Builder
		svc := start(t, config)
		c := svc.caller(credit)
		job := c.start(3)
		stop := svc.worker(synthetic.Renderer{}, func(w *worker.Config) { w.Log = slog.New(slog.NewTextHandler(apptest.LogWriter(t, &log), nil)) })
		done := c.await(job.JobID, client.StatusCompleted)
		if done.Renderer != contract.SyntheticRenderer || done.Application != contract.SyntheticApplication || done.Version != "none" ||
			done.Engine != "none" || done.RenderDevice != "CPU" || done.DeviceName != synthetic.DeviceName {
			t.Errorf("the job looks real: %+v", done)
		}
		receipt, err := c.Receipt(patient(t), job.JobID)
		if err != nil || !bytes.Contains(receipt.Members, []byte(`"renderer":{"id":"synthetic","application":"synthetic renderer, no Blender"`)) {
			t.Errorf("the receipt looks real: %s, %v", receipt.Members, err)
		}
		keys, err := c.SigningKeys(patient(t))
		if err != nil {
			t.Fatal(err)
		}
		if checks, err := client.Verify(receipt, keys, nil, 0); err != nil || !strings.Contains(fmt.Sprint(checks), "NOT rendered") {
			t.Errorf("the verified receipt looks real: %v, %v", checks, err)
		}
		for name, text := range c.texts(job.JobID) {
			if !strings.Contains(text, contract.SyntheticApplication) {
				t.Errorf("%s looks real:\n%s", name, text)
			}
		}
		stop()
		if !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), "synthetic") {
			t.Errorf("the worker's log looks real:\n%s", log.String())
		}
		svc.settledOnce(c, 3)
	})
}

func TestOneSyntheticFrameMakesTheJobSynthetic(t *testing.T) {
	each(t, func(t *testing.T, config app.Config) {
		config.AllowSynthetic = true
		svc := start(t, config)
		c := svc.caller(credit)
		job := c.start(2)
		// The first frame is painted, what comes then hangs until a real worker has it.
		draws := []float64{0.9, 0.5, 0.1}
		stop := svc.worker(synthetic.Renderer{
			Faults: map[synthetic.Fault]float64{synthetic.Hang: 0.2},
			Random: func() float64 { next := draws[0]; draws = draws[min(1, len(draws)-1):]; return next },
		}, func(w *worker.Config) { w.Grace = time.Millisecond })
		c.awaitFrames(job.JobID, 1)
		stop()
		svc.worker(&painter{})
		if done := c.await(job.JobID, client.StatusCompleted); done.Renderer != contract.SyntheticRenderer || done.Application != contract.SyntheticApplication {
			t.Errorf("the job looks real: %+v", done)
		}
		svc.settledOnce(c, 2)
	})
}

// texts are the entries of a job's ZIP beside its pictures.
func (c caller) texts(jobID string) map[string]string {
	c.t.Helper()
	path := c.t.TempDir() + "/job.zip"
	if _, err := c.Download(patient(c.t), jobID, path, nil); err != nil {
		c.t.Fatal(err)
	}
	archive, err := zip.OpenReader(path)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = archive.Close() }()
	out := map[string]string{}
	for _, entry := range archive.File {
		if strings.HasPrefix(entry.Name, "output/") {
			continue
		}
		r, err := entry.Open()
		if err != nil {
			c.t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			c.t.Fatal(err)
		}
		out[entry.Name] = string(text)
	}
	return out
}

// TestACrowdOfWorkersLosesNoFrameAndRendersNoneTwice is the scale run of the
// benchmark in small: the audit at its end counts the frames.
func TestACrowdOfWorkersLosesNoFrameAndRendersNoneTwice(t *testing.T) {
	each(t, func(t *testing.T, config app.Config) {
		const workers, frames = 40, 100
		config.AllowSynthetic = true
		svc := start(t, config)
		c := svc.caller(credit)
		for range workers {
			svc.worker(synthetic.Renderer{FrameTime: 20 * time.Millisecond, Jitter: 0.5})
		}
		job := c.start(frames)
		seen := map[int]int{}
		for e, err := range c.Events(patient(t), job.JobID, "") {
			if err != nil {
				t.Fatal(err)
			}
			if e.Frame != nil {
				seen[e.Frame.Frame]++
			}
		}
		for frame := 1; frame <= frames; frame++ {
			if seen[frame] != 1 {
				t.Errorf("frame %d was told %d times", frame, seen[frame])
			}
		}
		svc.settledOnce(c, frames)
	})
}
