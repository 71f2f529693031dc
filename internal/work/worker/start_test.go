package worker_test

import (
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"svc.example/internal/render/blender"
	"svc.example/internal/test/await"
	"svc.example/internal/work/worker"
)

func TestRefusedBlenderNamesTheFlagThatAdmitsIt(t *testing.T) {
	t.Parallel()
	old := newPainter()
	old.info.Version = "3.4.1"
	blind := newPainter()
	blind.info.Devices = []blender.DeviceInfo{{Type: "CPU", Name: "Test CPU"}}
	for _, c := range []struct {
		painter *painter
		want    error
		flag    string
	}{
		{old, worker.ErrVersion, "--allow-blender-version"},
		{blind, worker.ErrNoGPU, "--device cpu"},
	} {
		t.Run(c.flag, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				b := newBench(t, newServer(0), c.painter)
				if err := worker.New(b.config).Run(t.Context()); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.flag) {
					t.Errorf("%v, want %v naming %s", err, c.want, c.flag)
				}
				var log strings.Builder
				b.config.Log = slog.New(slog.NewTextHandler(&log, nil))
				b.config.AllowBlenderVersion, b.config.Device = true, blender.CPU
				stop := b.run()
				b.until(func() bool { return len(b.server.workers) == 1 })
				if err := stop(); err != nil || !strings.Contains(log.String(), c.flag) || !strings.Contains(log.String(), "level=WARN") {
					t.Errorf("%v, log:\n%s", err, log.String())
				}
			})
		})
	}
}

func TestFirstRegistrationThatIsRefusedEndsTheWorker(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		b := newBench(t, newServer(0), newPainter())
		b.config.Farm = keyless{b.server}
		if err := worker.New(b.config).Run(t.Context()); err == nil || !strings.Contains(err.Error(), "unauthenticated") {
			t.Errorf("%v, want the server's refusal", err)
		}
	})
}

func TestWorkerWaitsForAnUnreachableServer(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newServer(1)
		s.down = true
		b := newBench(t, s, newPainter())
		stop := b.run()
		defer stop()
		await.Pass(time.Hour)
		s.change(func() { s.down = false })
		b.untilDelivered(1)
	})
}

// TestAnOutageIsOneLineOfAWorkersLog: however often the call is repeated, and one when it is over.
func TestAnOutageIsOneLineOfAWorkersLog(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newServer(1)
		s.down = true
		b := newBench(t, s, newPainter())
		var log strings.Builder
		b.config.Log = slog.New(slog.NewTextHandler(&log, nil))
		stop := b.run()
		await.Pass(time.Hour)
		s.change(func() { s.down = false })
		b.untilDelivered(1)
		if err := stop(); err != nil {
			t.Error(err)
		}
		for line, want := range map[string]int{"a call to the server failed": 1, "the server answers again": 1} {
			if got := strings.Count(log.String(), line); got != want {
				t.Errorf("%q is there %d times, want %d:\n%s", line, got, want, &log)
			}
		}
	})
}

func TestServerThatRefusesIsNotFlooded(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		b := newBench(t, newServer(0), newPainter())
		var calls atomic.Int64
		b.config.Farm = refusing{b.server, &calls}
		stop := b.run()
		await.Pass(time.Minute)
		if err := stop(); err != nil {
			t.Error(err)
		}
		if n := calls.Load(); n < 2 || n > 30 {
			t.Errorf("%d lease calls in a minute", n)
		}
	})
}

func TestFolderHasOneWorker(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		b := newBench(t, newServer(0), newPainter())
		stop := b.run()
		b.until(func() bool { return len(b.server.workers) == 1 })
		if err := worker.New(b.config).Run(t.Context()); err == nil {
			t.Error("a second worker ran in the same folder")
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}
