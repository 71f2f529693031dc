package blender_test

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"svc.example/internal/blender"
)

func TestABlenderThatSleepsMakesNoProgress(t *testing.T) {
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

// A step in silence, for which the time between two reports stands here, ends
// though it works, when it is longer than any that is known.
func TestABlenderThatWorksInSilenceForTooLongMakesNoProgress(t *testing.T) {
	t.Parallel()
	p, _ := open(t, "slow", blender.Options{})
	p.SetPatience(blender.Patience{Busy: 10 * time.Millisecond})
	err := whileRendering(t.Context(), p, func() {})
	if e := failure(t, err, blender.NoProgress); !strings.Contains(e.Message, "worked for") {
		t.Errorf("%+v", e)
	}
}

func TestPicturesByTilesTellOfTheirProgress(t *testing.T) {
	t.Parallel()
	p, _ := open(t, "tiles", blender.Options{})
	seen := map[int]bool{}
	done := make(chan float64, 1000)
	if _, err := p.Render(t.Context(), 1, func(share float64) { done <- share }); err != nil {
		t.Fatal(err)
	}
	close(done)
	for share := range done {
		seen[int(share*6)] = true
	}
	// 6 tiles; that each is told of depends on when Blender prints.
	if len(seen) < 3 {
		t.Errorf("the sixths %v were told of", seen)
	}
}
