package operator

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"svc.example/internal/render/blender"
	"svc.example/internal/work/worker"
)

// TestATrialRendersWhatThisBlenderCan: scenes denoise by default, and a Blender without a
// denoiser refuses them unless it is told not to.
func TestATrialRendersWhatThisBlenderCan(t *testing.T) {
	t.Parallel()
	for _, denoiser := range []bool{true, false} {
		c := &Serve{}
		c.Device, c.Denoise, c.Sandbox = string(blender.GPU), string(blender.Keep), "required"
		said := c.relax(blender.Info{Version: "3.4.1", Denoiser: denoiser})
		if c.Device != string(blender.CPU) || !c.AllowBlenderVersion || c.Sandbox != "auto" {
			t.Errorf("it renders on %s, with sandbox %s", c.Device, c.Sandbox)
		}
		if off := c.Denoise == string(blender.Off); off == denoiser || strings.Contains(said, "without denoising") == denoiser {
			t.Errorf("with a denoiser %t: --denoise %s, and %q", denoiser, c.Denoise, said)
		}
	}
}

// TestAMachineThatCannotRenderShowsTheWaysForward: a trial here, a real service, or a
// service that leaves rendering to others.
func TestAMachineThatCannotRenderShowsTheWaysForward(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{worker.ErrVersion, worker.ErrNoGPU, blender.ErrNotFound} {
		said := notReady(fmt.Errorf("embedded worker: %w", cause)).Error()
		for _, way := range []string{"svc serve --dev", "svc worker doctor", "--worker none"} {
			if !strings.Contains(said, way) {
				t.Errorf("%v: %q is not named in %s", cause, way, said)
			}
		}
		if strings.Count(said, "\n") > 15 {
			t.Errorf("more than a screen: %s", said)
		}
	}
	if other := errors.New("disk full"); !errors.Is(notReady(other), other) {
		t.Error("another error is replaced")
	}
	if notReady(nil) != nil {
		t.Error("a clean end is an error")
	}
}
