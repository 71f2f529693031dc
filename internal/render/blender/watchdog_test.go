package blender_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"svc.example/internal/render/blender"
)

func TestBlenderThatSleepsMakesNoProgress(t *testing.T) {
	t.Parallel()
	p, _ := open(t, "slow", blender.Options{})
	p.SetPatience(blender.Patience{Asleep: time.Second})
	pid := p.PID()
	err := whileRendering(t.Context(), p, func() { _ = syscall.Kill(pid, syscall.SIGSTOP) })
	if e := failure(t, err, blender.NoProgress); !strings.Contains(e.Message, "neither worked nor reported") || e.Final {
		t.Errorf("%+v", e)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the process is still there: %v", err)
	}
}

// A silent step, represented here by the time between two reports, is ended
// although it works if it is longer than any known one.
func TestBlenderThatWorksInSilenceForTooLongMakesNoProgress(t *testing.T) {
	t.Parallel()
	p, _ := open(t, "slow", blender.Options{})
	p.SetPatience(blender.Patience{Busy: 10 * time.Millisecond})
	err := whileRendering(t.Context(), p, func() {})
	if e := failure(t, err, blender.NoProgress); !strings.Contains(e.Message, "worked for") {
		t.Errorf("%+v", e)
	}
}

// A frame that keeps reporting progress ends all the same, when its time is over.
func TestAFrameThatTakesTooLongEnds(t *testing.T) {
	t.Parallel()
	p, _ := open(t, "slow", blender.Options{})
	pid := p.PID()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := p.Render(ctx, 1, func(float64) {})
	if e := failure(t, err, blender.FrameTimeExceeded); !strings.Contains(e.Message, "after 1s") || len(e.Log) > blender.FrameLogBytes {
		t.Errorf("%+v", e)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the process is still there: %v", err)
	}
}

func TestTiledPicturesReportProgress(t *testing.T) {
	t.Parallel()
	p, _ := open(t, "tiles", blender.Options{})
	var mu sync.Mutex
	seen := map[int]bool{}
	if _, err := p.Render(t.Context(), 1, func(share float64) { mu.Lock(); defer mu.Unlock(); seen[int(share*6)] = true }); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	// 6 tiles; whether each is reported depends on when Blender prints.
	if len(seen) < 3 {
		t.Errorf("the sixths %v were reported", seen)
	}
}
