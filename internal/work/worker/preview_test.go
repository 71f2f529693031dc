package worker_test

import (
	"testing"
	"time"

	"svc.example/internal/render/strips"
	"svc.example/internal/test/await"
	"svc.example/internal/work/farmapi"
)

func TestAnIdleWorkerRendersPreviewsInProcessesOfTheirOwn(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, p := newServer(2), newPainter()
		b := newBench(t, s, p)
		stop := b.run()
		b.untilDelivered(2)
		s.addPreview("PRV-1")
		s.addPreview("PRV-2")
		b.untilDelivered(4)
		s.add("JOB-2", 1)
		b.untilDelivered(5)
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		for _, j := range s.jobs[1:3] {
			want := farmapi.FullFrame{Width: 80, Height: 60, Samples: 128, LeastSamples: 64, SamplingSeconds: 0.5}
			if got := j.frames[0].done; got.JobID != j.id || got.Full == nil || *got.Full != want {
				t.Errorf("%s: %+v, %+v", j.id, got, got.Full)
			}
		}
		if s.jobs[3].frames[0].done.Full != nil {
			t.Error("a paid frame is described as a preview")
		}
		if len(p.opens) != 4 || p.previews != 2 || p.alive != 0 {
			t.Errorf("%d files were opened, %d of them for previews, %d processes are left", len(p.opens), p.previews, p.alive)
		}
	})
}

// TestBandsAreMeasuredOnlyForFramesThatMayBeCut: a frame of these previews is expected to take
// 400 s, and a preview that takes too long to measure is delivered without bands.
func TestBandsAreMeasuredOnlyForFramesThatMayBeCut(t *testing.T) {
	for _, c := range []struct {
		name     string
		above    float64
		bandTime time.Duration
		want     int
	}{
		{"a service that cuts none", 0, 0, 0},
		{"a frame that is too short", 401, 0, 0},
		{"a long frame", 399, 0, strips.MostBands},
		{"bands that take too long", 399, time.Second, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				s, p := newServer(0), newPainter()
				p.bandTime = c.bandTime
				s.addPreview("PRV-1")
				s.jobs[0].preview.BandsAbove = c.above
				b := newBench(t, s, p)
				stop := b.run()
				b.untilDelivered(1)
				if err := stop(); err != nil {
					t.Fatal(err)
				}
				if got := s.jobs[0].frames[0].done.Bands; len(got) != c.want {
					t.Errorf("delivered with the bands %v, want %d", got, c.want)
				}
			})
		})
	}
}

// TestAFrameEndsAPreviewAtOnce: the worker begins it as one that has nothing to do.
func TestAFrameEndsAPreviewAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, p := newServer(0), newPainter()
		s.addPreview("PRV-1")
		p.frameTime = 50 * time.Second
		b := newBench(t, s, p)
		stop := b.run()
		await.Pass(30 * time.Second)
		s.add("JOB-1", 1)
		added := time.Now()
		b.untilDelivered(1)
		if took := time.Since(added); took > p.frameTime+time.Second {
			t.Errorf("the frame of %s was there after %s", p.frameTime, took)
		}
		b.untilDelivered(2)
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		if len(s.released) != 1 || s.released[0] != "PRV-1/1" || len(s.fails) != 0 || s.jobs[0].frames[0].attempt != 2 {
			t.Errorf("released %v, failed %v, want the preview once", s.released, s.fails)
		}
	})
}

func TestAPreviewFailsAfterItsTime(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, p := newServer(0), newPainter()
		s.addPreview("PRV-1")
		p.frameTime = time.Hour
		b := newBench(t, s, p)
		stop := b.run()
		begun := time.Now()
		b.until(func() bool { return len(s.fails) == 1 })
		if took := time.Since(begun); took > 70*time.Second {
			t.Errorf("it was ended after %s", took)
		}
		if got := s.fails[0]; got.Code != "frame_time_exceeded" || got.LeaseID != "PRV-1/1" || got.Message == "" {
			t.Errorf("it failed as %+v", got)
		}
		s.add("JOB-1", 1) // the worker continues
		p.frameTime = time.Second
		b.untilDelivered(1)
		if err := stop(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestAPreviewThatIsTakenAwayEnds: its upload was deleted.
func TestAPreviewThatIsTakenAwayEnds(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, p := newServer(0), newPainter()
		s.addPreview("PRV-1")
		p.frameTime = 50 * time.Second
		b := newBench(t, s, p)
		stop := b.run()
		await.Pass(10 * time.Second)
		s.change(func() { s.jobs[0].frames[0].closed = true })
		await.Pass(10 * time.Second)
		s.addPreview("PRV-2")
		await.Pass(10 * time.Second) // it has begun the next one
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		if len(s.delivered()) != 0 || len(s.fails) != 0 || p.stopped != 2 || p.alive != 0 {
			t.Errorf("delivered %v, failed %v, %d renders ended, %d processes left", s.delivered(), s.fails, p.stopped, p.alive)
		}
	})
}

func TestAStoppedWorkerGivesAPreviewBackAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, p := newServer(0), newPainter()
		s.addPreview("PRV-1")
		p.frameTime = 50 * time.Second
		b := newBench(t, s, p)
		stop := b.run()
		await.Pass(45 * time.Second) // a frame would be worth its wait
		begun := time.Now()
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took > time.Second || len(s.released) != 1 || p.alive != 0 {
			t.Errorf("after %s it has released %v, %d processes left", took, s.released, p.alive)
		}
	})
}

// TestOnlyAWorkerWithoutFramesAsksForPreviews: a request for more frames during a render
// gets none.
func TestOnlyAWorkerWithoutFramesAsksForPreviews(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, p := newServer(30), newPainter()
		p.frameTime = 100 * time.Millisecond
		s.addPreview("PRV-1")
		b := newBench(t, s, p)
		stop := b.run()
		b.untilDelivered(31)
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		if len(s.released) != 0 || s.jobs[1].frames[0].attempt != 1 {
			t.Errorf("released %v, the preview was claimed %d times", s.released, s.jobs[1].frames[0].attempt)
		}
	})
}
