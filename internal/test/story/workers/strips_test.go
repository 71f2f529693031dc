package workers_test

import (
	"bytes"
	"context"
	"image"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/render/pixels"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/story"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/synthetic"
	"svc.example/internal/work/worker"
)

// stillOf orders one frame that is known to take long, when so many workers are idle, and returns
// its strips once it is completed.
func stillOf(t *testing.T, svc *story.Service, c story.Caller, workers int64) (job *client.Job, strips []query.Strip) {
	quoted := c.QuotePreviewed(apptest.PlainScene(t))
	svc.AwaitIdle(workers)
	job, err := c.Take(quoted)
	if err != nil {
		t.Fatal(err)
	}
	job = c.Await(job.JobID, client.StatusCompleted)
	svc.Read(func(ctx context.Context, tx *db.Tx) (err error) {
		strips, err = tx.StripsOfJob(ctx, job.JobID)
		return err
	})
	return job, strips
}

// wantPainted checks that a frame is the picture that one synthetic worker paints.
func wantPainted(t *testing.T, frame query.Frame) {
	t.Helper()
	whole, err := synthetic.Paint(int(frame.Frame), image.Pt(int(frame.Width), int(frame.Height)))
	if err != nil {
		t.Fatal(err)
	}
	if want, err := pixels.Read(bytes.NewReader(whole)); err != nil || want.SHA256 != frame.PixelSha256 {
		t.Errorf("the pixels are not those of one worker: %v", err)
	}
}

func TestOneStillIsRenderedByAllIdleWorkers(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		config.AllowSynthetic, config.SplitAbove = true, new(100*time.Millisecond)
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		for range 3 { // so slow that each has asked before the first one is done
			svc.Worker(synthetic.Renderer{FrameTime: 6 * time.Second})
		}
		job, strips := stillOf(t, svc, c, 3)
		by := map[string]bool{}
		for _, s := range strips {
			by[s.WorkerID] = true
		}
		if len(strips) != 3 || len(by) != 3 {
			t.Errorf("it was rendered in %d strips by %d workers", len(strips), len(by))
		}
		wantPainted(t, svc.Frames(job.JobID)[0])
		svc.SettledOnce(c, 1)
		c.VerifiedZIP(job)
	})
}

// firstStrip tells when its worker has got a strip, and has it take no other: then those that
// wait for it have the rest, however slow they are.
type firstStrip struct {
	worker.Farm
	once  sync.Once
	taken chan struct{}
}

func (f *firstStrip) Lease(ctx context.Context, req farmapi.LeaseRequest) (farmapi.LeaseReply, error) {
	select {
	case <-f.taken:
		<-ctx.Done()
		return farmapi.LeaseReply{}, ctx.Err()
	default:
	}
	got, err := f.Farm.Lease(ctx, req)
	if err == nil && slices.ContainsFunc(got.Leases, func(l farmapi.Lease) bool { return l.Strip != nil }) {
		f.once.Do(func() { close(f.taken) })
	}
	return got, err
}

// later asks for work when another worker has some.
type later struct {
	worker.Farm
	after <-chan struct{}
}

func (f *later) Lease(ctx context.Context, req farmapi.LeaseRequest) (farmapi.LeaseReply, error) {
	select {
	case <-f.after:
		return f.Farm.Lease(ctx, req)
	case <-ctx.Done():
		return farmapi.LeaseReply{}, ctx.Err()
	}
}

func TestAStripThatDiffersFromItsNeighboursIsRenderedByOthers(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		var log story.Logged
		config.Log = slog.New(slog.NewTextHandler(apptest.LogWriter(t, &log), nil))
		config.AllowSynthetic, config.SplitAbove = true, new(100*time.Millisecond)
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		lies := make(chan struct{})
		svc.Worker(synthetic.Renderer{FrameTime: 6 * time.Second, Faults: map[synthetic.Fault]float64{synthetic.Wrong: 1}}, func(c *worker.Config) {
			c.Farm = &firstStrip{Farm: c.Farm, taken: lies}
		})
		for range 3 { // they ask for strips when the other one has one
			svc.Worker(synthetic.Renderer{FrameTime: 600 * time.Millisecond}, func(c *worker.Config) { c.Farm = &later{c.Farm, lies} })
		}
		job, strips := stillOf(t, svc, c, 4)
		if len(strips) != 4 {
			t.Errorf("it was rendered in %d strips", len(strips))
		}
		wantPainted(t, svc.Frames(job.JobID)[0])
		if !log.Has("level=WARN", "do not agree at a cut") {
			t.Error("the operator is not told")
		}
		svc.SettledOnce(c, 1)
	})
}
