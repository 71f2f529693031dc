package worker_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.example/internal/render/blender"
	"svc.example/internal/render/gpu"
	"svc.example/internal/work/worker"
)

// shared is a bench of a worker for each painter.
func shared(t *testing.T, s *server, painters ...*painter) *bench {
	b := newBench(t, s, nil)
	for i, p := range painters {
		b.shares = append(b.shares, worker.Share{Name: fmt.Sprint("gpu", i), Renderer: p})
	}
	return b
}

// work runs a worker, or one for each share.
func (b *bench) work(ctx context.Context) error {
	if b.shares != nil {
		return worker.RunEach(ctx, b.config, b.shares)
	}
	return worker.New(b.config).Run(ctx)
}

// renderers are the workers that delivered frames; s.mu is held.
func (s *server) renderers() (ids []string) {
	for _, j := range s.jobs {
		for _, f := range j.frames {
			if f.done != nil && !slices.Contains(ids, f.done.WorkerID) {
				ids = append(ids, f.done.WorkerID)
			}
		}
	}
	return ids
}

// TestEachCardHasAWorker: the server has them one by one, and the machine fetches a file once
// for all of them, also while they ask for it at the same time.
func TestEachCardHasAWorker(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newServer(0)
		s.partIn = 10 * time.Second
		first, second, third := newPainter(), newPainter(), newPainter()
		b := shared(t, s, first, second, third)
		stop := b.run()
		b.until(func() bool { return len(s.workers) == 3 })
		s.add("JOB-1", 30)
		begun := time.Now()
		b.untilDelivered(30)
		took := time.Since(begun)
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		names := slices.Sorted(slices.Values(s.names))
		if !slices.Equal(names, []string{"test-gpu0", "test-gpu1", "test-gpu2"}) || len(s.renderers()) != 3 {
			t.Errorf("registered %v, of which %v rendered", names, s.renderers())
		}
		if s.inputs != 1 {
			t.Errorf("the file was fetched %d times", s.inputs)
		}
		if took > 25*time.Second { // alone 40 s
			t.Errorf("30 frames of a second took %s", took)
		}
		if first.alive+second.alive+third.alive != 0 || len(s.left) != 3 {
			t.Errorf("%d, %d and %d processes are left; %v said that they leave", first.alive, second.alive, third.alive, s.left)
		}
	})
}

// TestMachineIsIdleTogether: a worker without a frame waits while another one renders, since
// whoever started them needs the whole machine back or none of it.
func TestMachineIsIdleTogether(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, first, second := newServer(1), newPainter(), newPainter()
		first.frameTime, second.frameTime = 25*time.Minute, 25*time.Minute
		b := shared(t, s, first, second)
		b.config.ExitIdle = 10 * time.Minute
		begun := time.Now()
		time.AfterFunc(30*time.Minute, func() { s.add("JOB-2", 2) })
		if err := b.ended(); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took < 65*time.Minute || took > 66*time.Minute {
			t.Errorf("they ended after %s", took)
		}
		if got := s.delivered(); len(got) != 3 || len(s.renderers()) != 2 || len(s.left) != 2 {
			t.Errorf("delivered %v by %v; %v said that they leave", got, s.renderers(), s.left)
		}
	})
}

// TestCardThatDoesNotWorkLeavesTheOthers at work, and is reported at once and at the
// end.
func TestCardThatDoesNotWorkLeavesTheOthers(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s, sound, blind := newServer(4), newPainter(), newPainter()
		blind.info.Devices = []blender.DeviceInfo{{Type: "CPU", Name: "Test CPU"}}
		b := shared(t, s, sound, blind)
		var log bytes.Buffer
		b.config.Log = slog.New(slog.NewTextHandler(&log, nil))
		stop := b.run()
		b.untilDelivered(4)
		err := stop()
		if !errors.Is(err, worker.ErrNoGPU) || !strings.Contains(err.Error(), "test-gpu1") {
			t.Errorf("%v", err)
		}
		if !strings.Contains(log.String(), "one of the machine's workers does not work") {
			t.Errorf("the log says nothing:\n%s", log.String())
		}
	})
}

func TestMachineHasOneCommand(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		b := shared(t, newServer(0), newPainter(), newPainter())
		stop := b.run()
		b.until(func() bool { return len(b.server.workers) == 2 })
		alone := newBench(t, b.server, newPainter())
		alone.config.WorkDir = b.config.WorkDir
		if err := alone.ended(); err == nil || !strings.Contains(err.Error(), "another worker works in") {
			t.Errorf("a second one: %v", err)
		}
		if err := stop(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestBlendersOfCardsStayApart starts real Blenders for two cards, as this machine is shared out
// between them, and reads from the kernel which each may see and on which processors it runs.
// Rendering is on the processor: there is no card.
func TestBlendersOfCardsStayApart(t *testing.T) {
	t.Parallel()
	path := realBlender(t)
	own := gpu.Own()
	if len(own.CPUs) < 2 {
		t.Fatal("this test needs two processors")
	}
	cards := []gpu.Card{
		{Index: 0, UUID: "GPU-3a1f9f0e-52c6-9f1d-8f9e-2c5f1c5d0a01", Node: 0, CPUs: own.CPUs[:1]},
		{Index: 3, UUID: "GPU-7be1a4c2-0f2b-1d6e-5a77-41c0f3b0aa02", Node: 1, CPUs: own.CPUs[1:2]},
	}
	s := newServer(0)
	s.input = sceneOf(t, path, "render_light.py", "light.blend")
	b := newBench(t, s, nil)
	b.config.Device, b.config.AllowBlenderVersion = blender.CPU, true
	b.shares = worker.OfCards(worker.Blender{Path: path}, gpu.Machine{}, gpu.Shares(cards, own), 0)
	stop := b.run()
	b.until(func() bool { return len(s.workers) == 2 })
	seen := map[string]string{}
	for _, name := range []string{"gpu0", "gpu3"} {
		seen[name] = blenderOf(t, filepath.Join(b.config.WorkDir, name))
	}
	s.add("JOB-1", 12)
	b.untilHas(12)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"gpu0", "gpu3"} {
		if want := fmt.Sprintf("%s on %d with 1 threads", cards[i].UUID, own.CPUs[i]); seen[name] != want {
			t.Errorf("%s: %q, want %q", name, seen[name], want)
		}
	}
	if len(s.renderers()) != 2 || s.inputs != 1 || len(s.fails) != 0 {
		t.Errorf("rendered by %v, the file was fetched %d times, failed %v", s.renderers(), s.inputs, s.fails)
	}
}

// blenderOf says of the Blender of a worker's folder which card it sees, on which processors it
// runs, and with how many threads.
func blenderOf(t *testing.T, folder string) string {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		environ, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(environ, []byte("HOME="+folder+"/processes/")) {
			continue // of another test, or gone
		}
		card := "no card"
		for variable := range strings.SplitSeq(string(environ), "\x00") {
			if value, ok := strings.CutPrefix(variable, gpu.VisibleDevices+"="); ok {
				card = value
			}
		}
		status, err1 := os.ReadFile(filepath.Join(filepath.Dir(path), "status"))
		command, err2 := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		_, list, _ := strings.Cut(string(status), "Cpus_allowed_list:\t")
		list, _, _ = strings.Cut(list, "\n")
		_, threads, _ := strings.Cut(string(command), "--threads\x00")
		threads, _, _ = strings.Cut(threads, "\x00")
		return fmt.Sprintf("%s on %s with %s threads", card, list, threads)
	}
	t.Fatalf("no Blender works in %s", folder)
	return ""
}
