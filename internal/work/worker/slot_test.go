package worker_test

import (
	"slices"
	"testing"
	"time"

	"svc.example/internal/test/await"
)

func TestSeveralBlendersRenderBesideEachOther(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, p := newServer(30), newPainter()
		s.add("JOB-2", 10)
		b := newBench(t, s, p)
		b.config.Blenders = 3
		stop := b.run()
		begun := time.Now()
		b.untilDelivered(40)
		took := time.Since(begun)
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		// A second each, and some to start; one after the other it would be 40.
		if took > 20*time.Second || p.busiest != 3 || len(s.workers) != 1 {
			t.Errorf("40 frames took %s, %d at once, of %d workers", took, p.busiest, len(s.workers))
		}
		for _, j := range s.jobs {
			for _, f := range j.frames {
				if f.attempt != 1 || f.done.PixelSHA256 != pixelsOf(t, f.number) {
					t.Errorf("%s, frame %d: attempt %d, %+v", j.id, f.number, f.attempt, f.done)
				}
			}
		}
		if p.alive != 0 || len(s.released) != 0 {
			t.Errorf("%d processes are left, and %v was given back", p.alive, s.released)
		}
	})
}

// TestTooLittleMemoryForSeveralBlendersFailsNoFrame: what one alone renders is rendered.
// After a while several work again.
func TestTooLittleMemoryForSeveralBlendersFailsNoFrame(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, p := newServer(20), newPainter()
		p.memory = 1
		b := newBench(t, s, p)
		b.config.Blenders = 3
		stop := b.run()
		defer stop()
		b.untilDelivered(20)
		if len(s.fails) != 0 || p.busiest < 2 {
			t.Errorf("failed %v; %d rendered at once", s.fails, p.busiest)
		}
		tried := len(p.began)
		p.mu.Lock()
		p.memory, p.busiest = 0, 0
		p.mu.Unlock()
		s.add("JOB-2", 20)
		b.untilDelivered(40)
		if tried > 30 || p.busiest != 1 {
			t.Errorf("20 frames took %d tries, and at once %d more were rendered together", tried, p.busiest)
		}
		await.Pass(10 * time.Minute)
		s.add("JOB-3", 20)
		b.untilDelivered(60)
		if p.busiest != 3 || len(s.fails) != 0 {
			t.Errorf("later %d rendered at once, failed %v", p.busiest, s.fails)
		}
	})
}

// TestAFrameThatFailsAloneFails: the others are no excuse for ever.
func TestAFrameThatFailsAloneFails(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, p := newServer(6), newPainter()
		p.memory = -1
		b := newBench(t, s, p)
		b.config.Blenders = 2
		stop := b.run()
		defer stop()
		b.until(func() bool { return len(s.fails) == 6 })
	})
}

func TestADrainedWorkerFinishesWhatEachBlenderRenders(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, p := newServer(8), newPainter()
		p.frameTime = time.Minute
		b := newBench(t, s, p)
		drain := make(chan struct{})
		b.config.Blenders, b.config.Drain = 2, drain
		stop := b.run()
		await.Pass(30 * time.Second)
		close(drain)
		b.untilDelivered(2)
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		if got := s.delivered(); len(got) != 2 || p.stopped != 0 || p.alive != 0 {
			t.Errorf("delivered %v, %d were cut off, %d processes are left", got, p.stopped, p.alive)
		}
	})
}

func TestAWorkerIsIdleWhenEachOfItsBlendersIs(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, p := newServer(1), newPainter()
		p.frameTime = 5 * time.Minute
		b := newBench(t, s, p)
		b.config.Blenders, b.config.ExitIdle = 3, time.Minute
		begun := time.Now()
		if err := b.ended(); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took < 6*time.Minute || took > 7*time.Minute || !slices.Equal(s.delivered(), []int{1}) {
			t.Errorf("it ended after %s with %v", took, s.delivered())
		}
	})
}
