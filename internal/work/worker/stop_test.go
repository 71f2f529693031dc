package worker_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"svc.example/internal/render/blender"
	"svc.example/internal/test/await"
)

func TestStoppedWorkerFinishesAShortFrame(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, p := newServer(5), newPainter()
		p.frameTime = 4 * time.Second
		b := newBench(t, s, p)
		stop := b.run()
		await.Pass(2 * time.Second)
		begun := time.Now()
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took > 10*time.Second {
			t.Errorf("stopping took %s", took)
		}
		if got := s.delivered(); len(got) != 1 || p.alive != 0 {
			t.Errorf("delivered %v, %d processes left; want one frame and none", got, p.alive)
		}
		if len(s.left) != 1 || s.left[0] != s.workers[0] {
			t.Errorf("%v have said that they leave, want %v once", s.left, s.workers)
		}
	})
}

// TestStoppedWorkerAwaitsItsLastHeartbeat: a server may carry out a call that was cut off,
// and one that it carries out late brings a worker back that has left.
func TestStoppedWorkerAwaitsItsLastHeartbeat(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, p := newServer(5), newPainter()
		p.frameTime, s.beatIn = 4*time.Second, 6*time.Second
		b := newBench(t, s, p)
		stop := b.run()
		await.Pass(6 * time.Second)
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		if len(s.left) != 1 || len(s.beats) == 0 || s.cutOff != 0 {
			t.Errorf("%v have left after %d heartbeats, of which %d were cut off", s.left, len(s.beats), s.cutOff)
		}
	})
}

func TestStoppedWorkerGivesALongFrameBack(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, p := newServer(5), newPainter()
		p.frameTime = time.Hour
		b := newBench(t, s, p)
		stop := b.run()
		await.Pass(10 * time.Minute)
		begun := time.Now()
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took > 10*time.Second {
			t.Errorf("stopping took %s", took)
		}
		if len(s.released) != 1 || len(s.delivered()) != 0 || p.alive != 0 {
			t.Errorf("released %v, delivered %v, %d processes left", s.released, s.delivered(), p.alive)
		}
	})
}

func TestStoppedWorkerGivesBackWhatItHadNotBegun(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, p := newServer(40), newPainter()
		p.frameTime = 300 * time.Millisecond
		b := newBench(t, s, p)
		stop := b.run()
		b.untilDelivered(4)
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		for _, f := range s.jobs[0].frames {
			if f.done == nil && f.holder != "" {
				t.Errorf("frame %d is still held", f.number)
			}
		}
		if len(s.released) == 0 {
			t.Error("nothing had been asked ahead: this test shows nothing")
		}
	})
}

// TestFrameGivenBackByAStopReadsAsThat ends a frame in both ways in which a stop does:
// the worker ends it, because it takes too long, or its Blender dies, because a scheduler
// signals that as well.
func TestFrameGivenBackByAStopReadsAsThat(t *testing.T) {
	for name, spoil := range map[string]func(p *painter){
		"ended by the worker": func(p *painter) { p.frameTime = time.Hour },
		"ended by the same signal": func(p *painter) {
			p.frameTime = 4 * time.Second
			p.fault = func(int) error { return &blender.Error{Code: blender.Crashed, Message: "Blender ended: terminated"} }
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				s, p := newServer(5), newPainter()
				spoil(p)
				b := newBench(t, s, p)
				var log bytes.Buffer
				b.config.Log = slog.New(slog.NewTextHandler(&log, nil))
				stop := b.run()
				await.Pass(3 * time.Second)
				if err := stop(); err != nil {
					t.Fatal(err)
				}
				if len(s.released) != 1 || len(s.fails) != 0 {
					t.Errorf("released %v, failed %v; want one released and none failed", s.released, s.fails)
				}
				if text := log.String(); !strings.Contains(text, `msg="frame given back" worker_name=test job_id=JOB-1 frame=1`) ||
					!strings.Contains(text, `reason="the worker stops"`) || strings.Contains(text, "no progress") || strings.Contains(text, "level=WARN") {
					t.Errorf("the log does not say that the worker stopped, or says more:\n%s", text)
				}
			})
		})
	}
}

// TestIdleWorkerEndsByItself, and not before its results are with the server.
func TestIdleWorkerEndsByItself(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, p := newServer(3), newPainter()
		p.frameTime = 2 * time.Second
		b := newBench(t, s, p)
		b.config.ExitIdle = 10 * time.Minute
		begun := time.Now()
		if err := b.ended(); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took < 10*time.Minute || took > 11*time.Minute {
			t.Errorf("it ended after %s", took)
		}
		if got := s.delivered(); len(got) != 3 || p.alive != 0 || len(s.left) != 1 {
			t.Errorf("delivered %v, %d processes left, %v have said that they leave", got, p.alive, s.left)
		}
	})
}

// A frame that takes longer than the worker may be idle does not end it.
func TestAWorkerThatRendersIsNotIdle(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, p := newServer(2), newPainter()
		p.frameTime = 20 * time.Minute
		b := newBench(t, s, p)
		b.config.ExitIdle = time.Minute
		if err := b.ended(); err != nil {
			t.Fatal(err)
		}
		if got := s.delivered(); len(got) != 2 {
			t.Errorf("delivered %v, want both frames", got)
		}
	})
}

// TestDrainedWorkerFinishesItsFrameAndNoOther, however long the frame takes.
func TestDrainedWorkerFinishesItsFrameAndNoOther(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, p := newServer(5), newPainter()
		p.frameTime = 20 * time.Minute
		b := newBench(t, s, p)
		drain := make(chan struct{})
		b.config.Drain = drain
		time.AfterFunc(10*time.Minute, func() { close(drain) })
		if err := b.ended(); err != nil {
			t.Fatal(err)
		}
		if got := s.delivered(); len(got) != 1 || p.alive != 0 || len(s.fails) != 0 {
			t.Errorf("delivered %v, failed %v, %d processes left; want one frame", got, s.fails, p.alive)
		}
		for _, f := range s.jobs[0].frames {
			if f.done == nil && f.holder != "" {
				t.Errorf("frame %d is still held", f.number)
			}
		}
	})
}

// TestDrainedWorkerThatIsIdleEndsAtOnce.
func TestDrainedWorkerThatIsIdleEndsAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, p := newServer(0), newPainter()
		b := newBench(t, s, p)
		drain := make(chan struct{})
		b.config.Drain = drain
		begun := time.Now()
		time.AfterFunc(time.Minute, func() { close(drain) })
		if err := b.ended(); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took > 70*time.Second || len(s.left) != 1 {
			t.Errorf("it ended after %s; %v have said that they leave", took, s.left)
		}
	})
}
