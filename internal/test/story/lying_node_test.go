package story_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/farmapi"
	"svc.example/internal/test/await"
	"svc.example/internal/work/dispatch"
)

// logged keeps what a service logs.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *logged) has(words ...string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.text.String()) {
		found := 0
		for _, word := range words {
			if strings.Contains(line, word) {
				found++
			}
		}
		if found == len(words) {
			return true
		}
	}
	return false
}

// liar is whoever has a node key and fails everything. It takes a new worker's name for
// each lie.
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
	each(t, func(t *testing.T, config app.Config) {
		var log logged
		config.Log = slog.New(slog.NewTextHandler(&log, nil))
		svc := start(t, config)
		c := svc.caller(credit)
		g := barrierAt(1)
		svc.worker(&painter{before: g.pass}) // the honest one, slow at first
		started := make([]*client.Job, jobs)
		for i := range started {
			started[i] = c.start(1)
		}
		if _, err := g.await(patient(t)); err != nil {
			t.Fatal(err)
		}
		key := svc.nodeKey()
		node := &liar{Client: farmapi.NewClient(svc.url, key.Secret)}
		for {
			lied, err := node.lie(patient(t))
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
		g.open()
		for _, job := range started {
			c.await(job.JobID, client.StatusCompleted)
		}
		await.Until(t, "the pause of the liar's key", func() bool { return log.has("level=WARN", "node key paused", key.KeyID) })
		svc.read(func(ctx context.Context, tx *db.Tx) error {
			paused, err := dispatch.PausedKeys(ctx, tx)
			if err == nil && (len(paused) != 1 || paused[0].KeyID != key.KeyID || paused[0].Until.Before(tx.Time())) {
				err = fmt.Errorf("the paused keys are %+v", paused)
			}
			return err
		})
		late := c.start(1)
		for range 3 {
			if lied, err := node.lie(patient(t)); lied || err != nil {
				t.Fatalf("a worker of a paused key got a frame (%t), %v", lied, err)
			}
		}
		c.await(late.JobID, client.StatusCompleted)
	})
}
