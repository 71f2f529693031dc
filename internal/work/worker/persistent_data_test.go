package worker_test

import (
	"slices"
	"strings"
	"testing"

	"svc.example/internal/render/blender"
	"svc.example/internal/test/await"
)

// watchedBench is a worker on a scene of which data is kept.
func watchedBench(t *testing.T, s *server) (*bench, *painter) {
	p := newPainter()
	p.keeps = true
	return newBench(t, s, p), p
}

func TestNoFrameThatKeptDataSpoiledIsDelivered(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newServer(6)
		b, p := watchedBench(t, s)
		p.stale = func(frame int) bool { return frame >= 2 }
		stop := b.run()
		defer stop()
		b.untilDelivered(6)
		for _, f := range s.jobs[0].frames {
			if want := pixelsOf(t, f.number); f.done.PixelSHA256 != want || f.attempt != 1 {
				t.Errorf("frame %d: attempt %d, pixels %s, want %s", f.number, f.attempt, f.done.PixelSHA256, want)
			}
			off := slices.Contains(f.done.Switched, "persistent_data_off")
			if off != (f.number >= 2) || off != strings.Contains(f.done.Log, "persistent data gave other pixels in frame 2") {
				t.Errorf("frame %d: switched %v, log %q", f.number, f.done.Switched, f.done.Log)
			}
		}
		if len(p.opens) != 3 {
			t.Errorf("%d processes were used, want one that kept data, one to compare with, one that continues", len(p.opens))
		}
	})
}

func TestJobThatKeptDataSpoilsIsRememberedByItsFile(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newServer(4)
		b, p := watchedBench(t, s)
		p.stale = func(frame int) bool { return frame >= 2 }
		stop := b.run()
		defer stop()
		b.untilDelivered(4)
		s.add("JOB-2", 4)
		b.untilDelivered(8)
		for _, f := range s.jobs[1].frames {
			if !slices.Contains(f.done.Switched, "persistent_data_off") {
				t.Errorf("frame %d of the second job: switched %v", f.number, f.done.Switched)
			}
		}
	})
}

// TestTheSecondFrameOfEveryNewFileIsCompared, whatever its job, and that of no other: not
// where no data is kept, and not where the file was compared before.
func TestTheSecondFrameOfEveryNewFileIsCompared(t *testing.T) {
	t.Parallel()
	for name, keeps := range map[string]bool{"data is kept": true, "no data is kept": false} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				s := newServer(20)
				b, p := watchedBench(t, s)
				p.keeps = keeps
				stop := b.run()
				defer stop()
				b.untilDelivered(20)
				s.add("JOB-2", 20) // of the same file
				b.untilDelivered(40)
				want := []int(nil)
				if keeps {
					want = []int{2}
				}
				if !slices.Equal(p.fresh, want) {
					t.Errorf("compared frames %v, want %v", p.fresh, want)
				}
				for _, f := range s.jobs[0].frames {
					if slices.Contains(f.done.Switched, "persistent_data_off") {
						t.Errorf("frame %d: switched %v", f.number, f.done.Switched)
					}
				}
			})
		})
	}
}

// Two renders of a frame by one GPU differ in a few pixels; on a processor they do not.
func TestNoiseOfAGPUDoesNotSwitchKeptDataOff(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		device blender.Device
		noise  byte
		off    bool
	}{
		"a GPU's noise":  {blender.GPU, 1, false},
		"more than that": {blender.GPU, 100, true},
		"on a processor": {blender.CPU, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				s := newServer(4)
				b, p := watchedBench(t, s)
				b.config.Device, p.noise = c.device, c.noise
				p.kind = map[blender.Device]string{blender.GPU: "GPU", blender.CPU: "CPU"}[c.device]
				stop := b.run()
				defer stop()
				b.untilDelivered(4)
				if off := slices.Contains(s.jobs[0].frames[3].done.Switched, "persistent_data_off"); off != c.off {
					t.Errorf("kept data is off: %t, want %t", off, c.off)
				}
			})
		})
	}
}

func TestAFrameThatIsComparedIsGivenBackWhenTheWorkerStops(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newServer(20)
		b, p := watchedBench(t, s)
		stop := b.run()
		b.untilDelivered(1)
		await.Pass(p.frameTime * 3 / 2) // the second frame is compared
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(p.fresh, []int{2}) {
			t.Fatalf("compared %v", p.fresh)
		}
		for _, f := range s.jobs[0].frames {
			if f.done == nil && f.holder != "" {
				t.Errorf("frame %d is neither delivered nor given back", f.number)
			}
		}
		if len(s.fails) > 0 || len(s.delivered()) != 1 {
			t.Errorf("delivered %v, failures %v", s.delivered(), s.fails)
		}
		if left := b.outbox(); len(left) != 0 {
			t.Errorf("the outbox still has %v", left)
		}
	})
}

func TestComparisonThatFailsFailsOneFrame(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newServer(4)
		b, p := watchedBench(t, s)
		p.broken = true
		stop := b.run()
		defer stop()
		b.until(func() bool { return len(s.fails) == 3 })
		if s.fails[0].Code != blender.Crashed || s.jobs[0].frames[0].done == nil {
			t.Errorf("failures %+v, frame 1 %+v", s.fails, s.jobs[0].frames[0].done)
		}
	})
}

func TestProcessThatEndsWithKeptDataIsFollowedByOneWithout(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, p := newServer(4), newPainter()
		p.keeps = true
		p.fault = func(frame int) error {
			if frame == 3 {
				return &blender.Error{Code: blender.OutOfMemory, Message: "no memory"}
			}
			return nil
		}
		b := newBench(t, s, p)
		stop := b.run()
		defer stop()
		b.untilDelivered(3)
		if !slices.Equal(p.fresh, []int{2, 4}) {
			t.Errorf("frames %v were rendered without kept data, want 2, which is compared, and 4", p.fresh)
		}
	})
}

// TestAFrameThatFailsWholeIsRenderedAgainInTiles: a picture in tiles takes less memory. What
// fails in tiles too has failed.
func TestAFrameThatFailsWholeIsRenderedAgainInTiles(t *testing.T) {
	for name, failing := range map[string]int{"whole": 1, "in tiles too": 2} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				s, p := newServer(4), newPainter()
				p.whole = true
				tries := 0
				p.fault = func(frame int) error {
					if frame != 2 {
						return nil
					}
					if tries++; tries > failing {
						return nil
					}
					return &blender.Error{Code: blender.OutOfMemory, Message: "no memory"}
				}
				b := newBench(t, s, p)
				stop := b.run()
				defer stop()
				b.until(func() bool { return len(s.delivered())+len(s.fails) == 4 })
				if len(s.fails) != failing-1 || len(s.released) == 0 || !slices.Contains(p.fresh, 2) || slices.Contains(p.fresh, 1) {
					t.Errorf("failed %+v, given back %v; in tiles were %v", s.fails, s.released, p.fresh)
				}
			})
		})
	}
}
