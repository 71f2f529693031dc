package worker_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.example/internal/render/blender"
	"svc.example/internal/test/await"
)

func TestEveryFrameIsDeliveredOnceAndDescribedTruly(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, p := newServer(20), newPainter()
		b := newBench(t, s, p)
		stop := b.run()
		b.untilDelivered(20)
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		for _, f := range s.jobs[0].frames {
			sum, want := sha256.Sum256(f.image), pixelsOf(t, f.number)
			got := f.done
			if got.SHA256 != hex.EncodeToString(sum[:]) || got.PixelSHA256 != want || got.SizeBytes != int64(len(f.image)) {
				t.Errorf("frame %d: %+v", f.number, got)
			}
			if f.attempt != 1 || got.Frame != f.number || got.Device != "GPU" || got.BlenderBuildHash != "abc" || !slices.Equal(got.Switched, []string{"file_output_muted"}) {
				t.Errorf("frame %d: attempt %d, %+v", f.number, f.attempt, got)
			}
		}
		if len(p.opens) != 1 || s.inputs != 1 {
			t.Errorf("the file was opened %d times and fetched %d times, want once", len(p.opens), s.inputs)
		}
		if p.alive != 0 {
			t.Errorf("%d processes are left", p.alive)
		}
	})
}

func TestNextFrameRendersWhileTheLastOneUploads(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newServer(10)
		s.deliverIn = 900 * time.Millisecond
		b := newBench(t, s, newPainter())
		stop := b.run()
		defer stop()
		begun := time.Now()
		b.untilDelivered(10)
		// A start, ten frames of a second and the last upload; one after the other
		// it would be nineteen seconds and more.
		if took := time.Since(begun); took > 12*time.Second {
			t.Errorf("ten frames took %s", took)
		}
	})
}

func TestShortFramesFollowWithoutWaitingForTheNetwork(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, p := newServer(20), newPainter()
		p.frameTime = 100 * time.Millisecond
		b := newBench(t, s, p)
		b.config.Farm = slow{s, 50 * time.Millisecond}
		stop := b.run()
		defer stop()
		b.untilDelivered(20)
		gaps := 0
		for i := 3; i < len(p.began); i++ {
			if p.began[i].Sub(p.began[i-1]) > 110*time.Millisecond {
				gaps++
			}
		}
		// Only at the end, when a single frame is left to ask for, is there a wait.
		if gaps > 3 {
			t.Errorf("%d of %d frames waited: %v", gaps, len(p.began), p.began)
		}
	})
}

func TestLongFramesFollowWithoutWaitingForTheNetwork(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, p := newServer(10), newPainter()
		p.frameTime = 20 * time.Second
		b := newBench(t, s, p)
		b.config.Farm = slow{s, 200 * time.Millisecond}
		stop := b.run()
		defer stop()
		b.untilDelivered(10)
		for i := 2; i < len(p.began); i++ {
			if gap := p.began[i].Sub(p.began[i-1]) - p.frameTime; gap > 10*time.Millisecond {
				t.Errorf("between frames %d and %d is a gap of %s", i, i+1, gap)
			}
		}
	})
}

func TestLongFrameIsLeftToAnIdleWorker(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newServer(3)
		busy, idle := newPainter(), newPainter()
		busy.frameTime, idle.frameTime = 20*time.Second, 20*time.Second
		b1, b2 := newBench(t, s, busy), newBench(t, s, idle)
		stop1 := b1.run()
		defer stop1()
		await.Pass(31 * time.Second) // in the middle of the second frame, the third is left
		stop2 := b2.run()
		defer stop2()
		b1.untilDelivered(3)
		if len(idle.began) != 1 {
			t.Errorf("the idle worker rendered %d frames, the busy one %d", len(idle.began), len(busy.began))
		}
	})
}

func TestTwoWorkersShareAJob(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newServer(20)
		p1, p2 := newPainter(), newPainter()
		p1.frameTime, p2.frameTime = 100*time.Millisecond, 100*time.Millisecond
		b1, b2 := newBench(t, s, p1), newBench(t, s, p2)
		stop1, stop2 := b1.run(), b2.run()
		defer stop1()
		defer stop2()
		b1.untilDelivered(20)
		if len(p1.began) < 5 || len(p2.began) < 5 || len(p1.began)+len(p2.began) != 20 {
			t.Errorf("one rendered %d frames, the other %d, of 20", len(p1.began), len(p2.began))
		}
	})
}

func TestSpareIsReadyForTheNextJob(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, p := newServer(3), newPainter()
		b := newBench(t, s, p)
		stop := b.run()
		defer stop()
		b.untilDelivered(3)
		await.Pass(5 * time.Second) // the time a spare has to start
		s.add("JOB-2", 1)
		asked := time.Now()
		b.untilDelivered(4)
		if waited := p.began[3].Sub(asked); waited > 100*time.Millisecond {
			t.Errorf("the first frame of an idle worker began after %s", waited)
		}
		if len(p.opens) != 2 || p.most > 2 {
			t.Errorf("%d files opened, %d processes at once; want a process for each of 2 jobs, 2 at once", len(p.opens), p.most)
		}
	})
}

func TestResultsAreKeptUntilTheServerIsBack(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newServer(3)
		s.leaseLife = time.Hour
		b := newBench(t, s, newPainter())
		stop := b.run()
		defer stop()
		b.untilDelivered(1)
		s.change(func() { s.down = true })
		await.Pass(10 * time.Minute)
		s.change(func() { s.down = false })
		back := time.Now()
		b.untilDelivered(3)
		if took := time.Since(back); took > time.Minute {
			t.Errorf("the server was back for %s before everything was there", took)
		}
		for _, f := range s.jobs[0].frames {
			if f.attempt != 1 {
				t.Errorf("frame %d was rendered %d times", f.number, f.attempt)
			}
		}
	})
}

func TestResultsOutliveTheWorker(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, p := newServer(1), newPainter()
		s.leaseLife = time.Hour
		s.deliverIn = time.Minute // no result leaves before the worker is stopped
		b := newBench(t, s, p)
		stop := b.run()
		await.Pass(5 * time.Second)
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		if len(s.delivered()) != 0 {
			t.Fatal("the result left too early for this test")
		}
		s.deliverIn = 0
		stop = b.run()
		defer stop()
		b.untilDelivered(1)
		if len(p.began) != 1 {
			t.Errorf("the frame was rendered %d times", len(p.began))
		}
	})
}

// What a failing disk has left of a picture is not sent, and blocks no later result.
func TestKeptPictureThatIsNotWholeIsRenderedAgain(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, p := newServer(2), newPainter()
		s.leaseLife = 5 * time.Minute
		s.deliverIn = time.Minute
		b := newBench(t, s, p)
		stop := b.run()
		await.Pass(5 * time.Second)
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		var cut int
		for _, name := range b.outbox() {
			if strings.HasSuffix(name, ".image") && cut == 0 {
				cut++
				if err := os.Truncate(filepath.Join(b.config.WorkDir, "outbox", name), 10); err != nil {
					t.Fatal(err)
				}
			}
		}
		if cut == 0 {
			t.Fatalf("no picture was kept: %v", b.outbox())
		}
		s.deliverIn = 0
		stop = b.run()
		defer stop()
		b.untilDelivered(2)
		for _, f := range s.jobs[0].frames {
			if int64(len(f.image)) != f.done.SizeBytes {
				t.Errorf("frame %d came with %d bytes, described with %d", f.number, len(f.image), f.done.SizeBytes)
			}
		}
	})
}

func TestRefusedResultIsDropped(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newServer(2)
		s.deliverIn = 3 * time.Second
		b := newBench(t, s, newPainter())
		stop := b.run()
		await.Pass(2500 * time.Millisecond) // the first frame is rendered and on its way
		s.change(func() { s.jobs[0].frames[0].attempt++; s.jobs[0].frames[0].closed = true })
		b.untilDelivered(1)
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		if got := s.delivered(); !slices.Equal(got, []int{2}) {
			t.Errorf("delivered %v, want frame 2 alone", got)
		}
		if left := b.outbox(); len(left) != 0 {
			t.Errorf("the outbox still has %v", left)
		}
	})
}

func TestLostLeaseEndsItsFrame(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, p := newServer(2), newPainter()
		p.frameTime = 30 * time.Second
		b := newBench(t, s, p)
		stop := b.run()
		defer stop()
		await.Pass(3 * time.Second)
		s.change(func() { s.jobs[0].frames[0].closed = true })
		b.untilDelivered(1)
		if p.stopped != 1 || len(p.opens) != 2 || len(s.fails) != 0 {
			t.Errorf("%d frames ended, %d processes used, failures %v; want one ended, a new process, no failure", p.stopped, len(p.opens), s.fails)
		}
		if got := s.delivered(); !slices.Equal(got, []int{2}) {
			t.Errorf("delivered %v, want frame 2 alone", got)
		}
	})
}

func TestHeartbeatsKeepALongFrame(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, p := newServer(1), newPainter()
		p.frameTime = 10 * time.Minute
		b := newBench(t, s, p)
		stop := b.run()
		defer stop()
		b.untilDelivered(1)
		if s.jobs[0].frames[0].attempt != 1 {
			t.Error("the lease lapsed")
		}
	})
}

// TestAFrameMayTakeTheTimeThatTheServerSays renders a frame that would never end.
func TestAFrameMayTakeTheTimeThatTheServerSays(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, p := newServer(1), newPainter()
		p.frameTime = 1000 * time.Hour
		b := newBench(t, s, p)
		stop := b.run()
		begun := time.Now()
		b.until(func() bool { return len(s.fails) > 0 })
		if took := time.Since(begun).Truncate(time.Minute); took != frameTime || s.fails[0].Code != blender.FrameTimeExceeded {
			t.Errorf("after %s: %+v; want %s after %s", took, s.fails[0], blender.FrameTimeExceeded, frameTime)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestProgressIsReportedAtMostOncePerSecond(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		frameTime   time.Duration
		least, most int
	}{
		"a frame of seconds":  {10700 * time.Millisecond, 8, 12},
		"a frame of minutes":  {10 * time.Minute, 120, 135},       // a beat in 5 s, and one a step
		"a frame of moments":  {500 * time.Millisecond, 0, 1},     // invisible
		"a frame that stands": {time.Minute + time.Second, 0, 24}, // ten steps, twelve beats
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				s, p := newServer(1), newPainter()
				p.frameTime = c.frameTime
				b := newBench(t, s, p)
				stop := b.run()
				defer stop()
				b.untilDelivered(1)
				for i := 1; i < len(s.beats); i++ {
					if s.beats[i].Sub(s.beats[i-1]) < time.Second {
						t.Errorf("two heartbeats in %s", s.beats[i].Sub(s.beats[i-1]))
					}
				}
				if n := len(s.beats); n < c.least || n > c.most {
					t.Errorf("%d heartbeats, want %d to %d", n, c.least, c.most)
				}
			})
		})
	}
}

func TestForgottenWorkerRegistersAgain(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newServer(4)
		b := newBench(t, s, newPainter())
		stop := b.run()
		defer stop()
		b.untilDelivered(1)
		s.change(func() { s.workers = []string{"another"} })
		b.untilDelivered(4)
		if !slices.Contains(s.workers, "W2") {
			t.Errorf("workers %v", s.workers)
		}
	})
}

func TestFailuresAreReportedAsTheyAre(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, p := newServer(3), newPainter()
		p.fault = func(frame int) error {
			return map[int]error{
				1: &blender.Error{Code: blender.OutOfMemory, Message: "no memory", Log: "last words"},
				2: &blender.Error{Code: blender.DenoiserUnavailable, Message: "no denoiser", Final: true},
			}[frame]
		}
		b := newBench(t, s, p)
		stop := b.run()
		defer stop()
		b.untilDelivered(1)
		b.until(func() bool { return len(s.fails) == 2 })
		if f := s.fails[0]; f.Code != blender.OutOfMemory || f.Log != "last words" || f.Final {
			t.Errorf("%+v", f)
		}
		if f := s.fails[1]; f.Code != blender.DenoiserUnavailable || !f.Final {
			t.Errorf("%+v", f)
		}
		if len(p.opens) != 3 {
			t.Errorf("%d processes used, want a new one after each failure", len(p.opens))
		}
	})
}

func TestUnsoundPictureFailsItsCheck(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*painter){
		"cut":   func(p *painter) { p.cut = true },
		"small": func(p *painter) { p.small = true },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				s, p := newServer(1), newPainter()
				spoil(p)
				b := newBench(t, s, p)
				stop := b.run()
				defer stop()
				b.until(func() bool { return len(s.fails) == 1 })
				if f := s.fails[0]; f.Code != blender.FrameCheckFailed || f.Final || strings.Contains(f.Message, b.config.WorkDir) {
					t.Errorf("%+v", f)
				}
			})
		})
	}
}

func TestDamagedInputNeverReachesBlender(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, p := newServer(1), newPainter()
		b := newBench(t, s, p)
		b.config.Farm = damaging{s}
		stop := b.run()
		defer stop()
		b.until(func() bool { return len(s.fails) == 1 })
		if len(p.opens) != 0 || !strings.Contains(s.fails[0].Message, "damaged") {
			t.Errorf("opened %v, failure %+v", p.opens, s.fails[0])
		}
	})
}

func TestFileIsFetchedOnceOverJobsAndRestarts(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newServer(1)
		b := newBench(t, s, newPainter())
		stop := b.run()
		b.untilDelivered(1)
		await.Pass(time.Hour) // long polls that bring nothing
		s.add("JOB-2", 1)
		b.untilDelivered(2)
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		s.add("JOB-3", 1)
		stop = b.run()
		defer stop()
		b.untilDelivered(3)
		if s.inputs != 1 {
			t.Errorf("the file was fetched %d times", s.inputs)
		}
	})
}
