package worker_test

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"svc.example/internal/render/blender"
	"svc.example/internal/test/await"
	"svc.example/internal/work/worker/blenders"
)

// auto is a bench of a worker whose number of Blenders follows the device.
func auto(t *testing.T, frames int, onDevice float64, free blenders.Free) (*server, *painter, *bench) {
	s, p := newServer(frames), newPainter()
	p.onDevice, p.needs = onDevice, 2<<30
	b := newBench(t, s, p)
	b.config.Blenders = blenders.Auto
	b.config.Free = func(context.Context) (blenders.Free, error) { return free, nil }
	b.config.Busy = func(context.Context) (float64, error) { return 0, errors.New("unknown") }
	return s, p, b
}

var plenty = blenders.Free{Host: 1 << 40, Device: 1 << 40}

// TestBlendersAreAddedUntilTheDeviceIsBusy: frames that need the device for a fifth of their
// time keep it busy five at once, and no more Blenders come than that takes.
func TestBlendersAreAddedUntilTheDeviceIsBusy(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, p, b := auto(t, 600, 0.2, plenty)
		stop := b.run()
		begun := time.Now()
		b.untilDelivered(600)
		took := time.Since(begun)
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		// Alone 600 s; by the device 120 s.
		if took > 250*time.Second || p.busiest < 4 || p.busiest > 6 {
			t.Errorf("600 frames took %s, %d at once", took, p.busiest)
		}
		if len(s.fails) != 0 || len(s.released) != 0 || p.alive != 0 {
			t.Errorf("failed %v, given back %v, %d processes are left", s.fails, s.released, p.alive)
		}
	})
}

// TestAGPUsOwnWordCounts: what Blender calls rendering is more than the GPU does where
// frames are light, and the GPU waits. There come as many Blenders as the machine has cores for.
func TestAGPUsOwnWordCounts(t *testing.T) {
	for name, c := range map[string]struct {
		busy     float64
		onDevice float64
		want     int
	}{
		"light frames": {0.03, 0.69, 8},
		"heavy frames": {0.95, 0.2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				_, p, b := auto(t, 600, c.onDevice, plenty)
				b.config.Cores = 16
				b.config.Busy = func(context.Context) (float64, error) { return c.busy, nil }
				stop := b.run()
				b.untilDelivered(600)
				if err := stop(); err != nil || p.busiest != c.want {
					t.Errorf("%v; %d at once, want %d", err, p.busiest, c.want)
				}
			})
		})
	}
}

// TestAnIdleGPUGetsASecondBlenderSoon: a job of a few light frames ends before there is much evidence.
func TestAnIdleGPUGetsASecondBlenderSoon(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		_, p, b := auto(t, 8, 0.69, plenty)
		p.frameTime = 1100 * time.Millisecond // a GPU is asked each second, never between two frames
		b.config.Cores = 16
		b.config.Busy = func(context.Context) (float64, error) { return 0.03, nil }
		stop := b.run()
		b.untilDelivered(8)
		if err := stop(); err != nil || p.busiest < 2 {
			t.Errorf("%v; %d at once", err, p.busiest)
		}
	})
}

// TestBlendersOfAFullGPULeave once the GPU computes all the time and they wait for each other.
func TestBlendersOfAFullGPULeave(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, p, b := auto(t, 300, 0.2, plenty)
		var busy atomic.Int64
		busy.Store(20)
		b.config.Cores = 16
		b.config.Busy = func(context.Context) (float64, error) { return float64(busy.Load()) / 100, nil }
		stop := b.run()
		b.untilDelivered(300)
		p.mu.Lock()
		p.onDevice = 1
		p.mu.Unlock()
		busy.Store(100)
		s.add("JOB-2", 400)
		b.untilDelivered(600)
		p.mu.Lock()
		p.busiest = 0
		p.mu.Unlock()
		b.untilDelivered(700)
		if err := stop(); err != nil || p.busiest != 1 || len(s.fails) != 0 {
			t.Errorf("%v; %d at once, failed %v", err, p.busiest, s.fails)
		}
	})
}

func TestHeavyFramesAreRenderedByOneBlender(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		_, p, b := auto(t, 60, 0.95, plenty)
		stop := b.run()
		b.untilDelivered(60)
		if err := stop(); err != nil || p.busiest != 1 {
			t.Errorf("%v; %d at once", err, p.busiest)
		}
	})
}

// TestOnAProcessorCoresAreTheDevice: what a Blender does besides rendering takes a core, which
// is half of two and little of many.
func TestOnAProcessorCoresAreTheDevice(t *testing.T) {
	for cores, want := range map[int]int{1: 1, 2: 1, 16: 2} {
		t.Run(strconv.Itoa(cores), func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				_, p, b := auto(t, 100, 0.65, blenders.Free{Host: 1 << 40, Device: blenders.NoMemory})
				p.kind, b.config.Device, b.config.Cores = "CPU", blender.CPU, cores
				stop := b.run()
				b.untilDelivered(100)
				if err := stop(); err != nil || p.busiest != want {
					t.Errorf("%v; %d at once, want %d", err, p.busiest, want)
				}
			})
		})
	}
}

// TestBlendersThatWaitForEachOtherLeave: after light frames, heavy ones are rendered by one
// Blender again, and what the others had begun is delivered.
func TestBlendersThatWaitForEachOtherLeave(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, p, b := auto(t, 300, 0.2, plenty)
		stop := b.run()
		b.untilDelivered(300)
		p.mu.Lock()
		p.onDevice = 1
		p.mu.Unlock()
		s.add("JOB-2", 400)
		b.untilDelivered(600)
		p.mu.Lock()
		p.busiest = 0
		p.mu.Unlock()
		b.untilDelivered(700)
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		if p.busiest != 1 || len(s.fails) != 0 || p.stopped != 0 {
			t.Errorf("%d at once, failed %v, %d cut off", p.busiest, s.fails, p.stopped)
		}
	})
}

// TestMemoryBoundsTheBlenders: a further Blender comes only where the largest so far, and half
// of it more, has room on the host and on the device.
func TestMemoryBoundsTheBlenders(t *testing.T) {
	for name, free := range map[string]blenders.Free{
		"no room on the host":   {Host: 3 << 30, Device: 1 << 40},
		"no room on the device": {Host: 1 << 40, Device: 1 << 28},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				_, p, b := auto(t, 100, 0.2, free)
				stop := b.run()
				b.untilDelivered(100)
				if err := stop(); err != nil || p.busiest != 1 {
					t.Errorf("%v; %d at once", err, p.busiest)
				}
			})
		})
	}
	t.Run("a device without memory of its own", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			_, p, b := auto(t, 100, 0.2, blenders.Free{Host: 1 << 40, Device: blenders.NoMemory})
			stop := b.run()
			b.untilDelivered(100)
			if err := stop(); err != nil || p.busiest < 2 {
				t.Errorf("%v; %d at once", err, p.busiest)
			}
		})
	})
	t.Run("nobody knows", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			_, p, b := auto(t, 100, 0.2, plenty)
			b.config.Free = func(context.Context) (blenders.Free, error) { return blenders.Free{}, errors.New("no such program") }
			stop := b.run()
			b.untilDelivered(100)
			if err := stop(); err != nil || p.busiest != 1 {
				t.Errorf("%v; %d at once", err, p.busiest)
			}
		})
	})
}

// TestOutOfMemoryLowersTheBlenders: what was measured as free can be too little all the same.
// The frame is rendered again alone, none fails, and more Blenders come back after a while.
func TestOutOfMemoryLowersTheBlenders(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, p, b := auto(t, 300, 0.2, plenty)
		p.memory = 2
		stop := b.run()
		b.untilDelivered(300)
		if len(s.fails) != 0 || p.busiest != 3 {
			t.Errorf("failed %v; at most %d were tried at once", s.fails, p.busiest)
		}
		await.Pass(10 * time.Minute)
		p.mu.Lock()
		p.memory, p.busiest = 0, 0
		p.mu.Unlock()
		s.add("JOB-2", 600)
		b.untilDelivered(900)
		if err := stop(); err != nil || p.busiest < 4 || len(s.fails) != 0 {
			t.Errorf("%v; later %d at once, failed %v", err, p.busiest, s.fails)
		}
	})
}
