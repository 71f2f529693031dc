package worker_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"svc.example/internal/render/blender"
	"svc.example/internal/test/await"
	"svc.example/internal/work/worker"
)

// TestNextJobOfASceneFindsItOpen, whether it came while the one before rendered or later. A job
// of other files, of another workspace or of a service that does not say gets a process of its
// own, as does one whose frames depend on those before.
func TestNextJobOfASceneFindsItOpen(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		next  string
		plays bool
		pause time.Duration
		opens int
	}{
		"at once":                 {"scene", false, 0, 1},
		"later":                   {"scene", false, 4 * time.Minute, 1},
		"too late":                {"scene", false, 6 * time.Minute, 2},
		"of another scene":        {"other", false, 0, 2},
		"of nobody knows what":    {"", false, 0, 2},
		"whose frames are played": {"scene", true, 0, 2},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				s, p := newServer(0), newPainter()
				s.addOf("scene", "JOB-1", 3)
				b := newBench(t, s, p)
				stop := b.run()
				if c.pause > 0 {
					b.untilDelivered(3)
					await.Pass(c.pause)
				}
				s.addOf(c.next, "JOB-2", 3)
				s.change(func() { s.jobs[1].plays = c.plays })
				b.untilDelivered(6)
				if err := stop(); err != nil {
					t.Fatal(err)
				}
				if len(p.opens) != c.opens || s.inputs != 1 || p.alive != 0 {
					t.Errorf("%d files were opened, the file was fetched %d times, %d processes are left", len(p.opens), s.inputs, p.alive)
				}
			})
		})
	}
}

// TestSceneWithoutAJobFreesItsMemory after a while, and a worker may be told how long that is.
func TestSceneWithoutAJobFreesItsMemory(t *testing.T) {
	t.Parallel()
	for _, kept := range []time.Duration{time.Nanosecond, time.Minute, time.Hour} {
		t.Run(kept.String(), func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				s, p := newServer(0), newPainter()
				s.addOf("scene", "JOB-1", 2)
				b := newBench(t, s, p)
				b.config.KeepScene = kept
				stop := b.run()
				b.untilDelivered(2)
				alive := func() int {
					p.mu.Lock()
					defer p.mu.Unlock()
					return p.alive
				}
				if await.Pass(kept - time.Second); kept > time.Second && alive() != 2 {
					t.Errorf("%d processes before, want the scene's and a spare", alive())
				}
				if await.Pass(45 * time.Second); alive() != 1 {
					t.Errorf("%d processes afterwards, want the spare", alive())
				}
				if err := stop(); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

// TestKeptDataIsWatchedOverJobs: the process has rendered frames of the job before, so the first
// frame of the next is no proof of itself.
func TestKeptDataIsWatchedOverJobs(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newServer(0)
		s.addOf("scene", "JOB-1", 1)
		b, p := watchedBench(t, s)
		p.stale = func(int) bool { return len(p.began) > 0 } // all but the process's first
		stop := b.run()
		b.untilDelivered(1)
		s.addOf("scene", "JOB-2", 3)
		b.untilDelivered(4)
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		if len(p.fresh) == 0 || p.fresh[0] != 1 {
			t.Errorf("compared %v", p.fresh)
		}
		for _, f := range s.jobs[1].frames {
			if f.done.PixelSHA256 != pixelsOf(t, f.number) || !slices.Contains(f.done.Switched, "persistent_data_off") {
				t.Errorf("frame %d: %+v", f.number, f.done)
			}
		}
	})
}

// counting counts what real Blenders are started and told to open.
type counting struct {
	worker.Blender
	mu      sync.Mutex
	changed chan struct{} // of capacity 1
	starts  int
	opens   int
}

func (c *counting) count(what *int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*what++
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

func (c *counting) counts() (starts, opens int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.starts, c.opens
}

func (c *counting) Start(ctx context.Context, opts blender.Options) (worker.Session, error) {
	s, err := c.Blender.Start(ctx, opts)
	if err != nil {
		return nil, err
	}
	c.count(&c.starts)
	return counted{s, c}, nil
}

type counted struct {
	worker.Session
	by *counting
}

func (c counted) Open(ctx context.Context, in blender.Input) (blender.Opened, error) {
	c.by.count(&c.by.opens)
	return c.Session.Open(ctx, in)
}

// TestRealBlenderGoesOnWithTheNextJob: the second job of a scene starts no process and opens no
// file, its frames say so, and its pictures are those of a Blender that has just opened it.
func TestRealBlenderGoesOnWithTheNextJob(t *testing.T) {
	t.Parallel()
	path := realBlender(t)
	s := newServer(0)
	s.input = sceneOf(t, path, "render_light.py", "light.blend")
	b := newBench(t, s, nil)
	c := &counting{Blender: worker.Blender{Path: path}, changed: make(chan struct{}, 1)}
	b.config.Renderer, b.config.Device, b.config.AllowBlenderVersion = c, blender.CPU, true
	stop := b.run()
	s.addOf("scene", "JOB-1", 4)
	b.untilHas(4)
	for starts := 0; starts < 3; starts, _ = c.counts() { // one more compares, and an idle worker has a spare
		await.Next(t, c.changed, "a spare process")
	}
	s.addOf("scene", "JOB-2", 4)
	b.untilHas(8)
	starts, opens := c.counts()
	s.addOf("other", "JOB-3", 4)
	b.untilHas(12)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if starts != 3 || opens != 2 || s.inputs != 1 {
		t.Errorf("after the second job: %d processes started, %d files opened, the file fetched %d times", starts, opens, s.inputs)
	}
	if _, opens := c.counts(); opens != 3 {
		t.Errorf("after a job of another scene %d files were opened", opens)
	}
	if s.jobs[0].frames[0].done.Times.Load == 0 {
		t.Error("the first job's first frame did not wait for the file")
	}
	for i, f := range s.jobs[1].frames {
		if load := f.done.Times.Load; load != 0 {
			t.Errorf("frame %d says that it waited %g s for the file to be opened", f.number, load)
		}
		if f.done.PixelSHA256 != s.jobs[2].frames[i].done.PixelSHA256 || f.done.PixelSHA256 != s.jobs[0].frames[i].done.PixelSHA256 {
			t.Errorf("frame %d is another one in a process that continues", f.number)
		}
	}
}
