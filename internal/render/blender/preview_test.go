package blender_test

import (
	"slices"
	"testing"
	"time"

	"svc.example/internal/render/blender"
)

// openSmall starts a process on a scene for a preview.
func openSmall(t *testing.T, name string, small blender.Preview) (*blender.Process, blender.Opened) {
	t.Helper()
	p, in := start(t, blender.Options{KeepData: true}), blender.SingleFile(scene(t, name))
	in.Preview = &small
	opened, err := p.Open(t.Context(), in)
	if err != nil {
		t.Fatalf("open %s: %v", name, err)
	}
	return p, opened
}

// TestAPreviewIsSmallAndCoarseWhateverTheSceneSays: at frame 20 the scene's animation
// asks for 4096 samples, its layer for 128.
func TestAPreviewIsSmallAndCoarseWhateverTheSceneSays(t *testing.T) {
	t.Parallel()
	p, opened := openSmall(t, "costly", blender.Preview{Side: 32, Samples: 2})
	f := render(t, p, 20)
	seen := picture(t, f.Path)
	if seen.Format != "png" || seen.Bits != 8 || max(seen.Width, seen.Height) > 32 || min(seen.Width, seen.Height) < 24 {
		t.Errorf("the picture is a %s of %dx%d, %d bits, want a PNG of 32 pixels at most", seen.Format, seen.Width, seen.Height, seen.Bits)
	}
	if f.Width != seen.Width || f.Height != seen.Height || opened.KeepsData {
		t.Errorf("said %dx%d, keeps data %v", f.Width, f.Height, opened.KeepsData)
	}
	// 16 / 0.1^0.3 samples is where Cycles may end a pixel at the earliest.
	if want := (blender.Full{Width: 41, Height: 38, Samples: 64, LeastSamples: 32}); opened.Full == nil || *opened.Full != want {
		t.Errorf("a full frame is %+v, want %+v", opened.Full, want)
	}
	if f.Sampling <= 0 || f.Sampling > time.Duration(f.Seconds*float64(time.Second)) {
		t.Errorf("%s of %.3f s were spent on samples", f.Sampling, f.Seconds)
	}
}

func TestAPreviewOfASmallSceneIsTheScene(t *testing.T) {
	t.Parallel()
	small, opened := openSmall(t, "plain", blender.Preview{Side: 640, Samples: 32})
	whole, _ := open(t, "plain", blender.Options{})
	ours, theirs := picture(t, render(t, small, 5).Path), picture(t, render(t, whole, 5).Path)
	if ours != theirs {
		t.Errorf("the preview is %+v, the frame %+v", ours, theirs)
	}
	if want := (blender.Full{Width: 64, Height: 48, Samples: 4, LeastSamples: 4}); *opened.Full != want {
		t.Errorf("a full frame is %+v, want %+v", opened.Full, want)
	}
}

// TestTheBandsOfAPreviewAreMeasuredAndLeaveItAsItWas: a scene that may not be cut has none.
func TestTheBandsOfAPreviewAreMeasuredAndLeaveItAsItWas(t *testing.T) {
	t.Parallel()
	p, _ := openSmall(t, "plain", blender.Preview{Side: 32, Samples: 2})
	before := picture(t, render(t, p, 5).Path)
	bands, err := p.Bands(t.Context(), 5, 6)
	if err != nil || len(bands) != 6 || slices.Min(bands) <= 0 {
		t.Fatalf("the bands took %v: %v", bands, err)
	}
	if after := picture(t, render(t, p, 5).Path); after != before {
		t.Errorf("after its bands, the picture is %+v instead of %+v", after, before)
	}
	p, _ = openSmall(t, "tiles_timed", blender.Preview{Side: 32, Samples: 1})
	render(t, p, 5)
	if bands, err := p.Bands(t.Context(), 5, 6); err != nil || len(bands) != 0 {
		t.Errorf("a scene that may not be cut has the bands %v: %v", bands, err)
	}
}

func TestAPreviewIsRenderedWithoutADenoiserThatIsNotThere(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"denoise", "denoise_node"} {
		p, opened := openSmall(t, name, blender.Preview{Side: 32, Samples: 1})
		if off := len(opened.Switched) == 1 && opened.Switched[0] == "denoise_off"; off == p.Info().Denoiser {
			t.Errorf("%s: switched %v, with a denoiser %v", name, opened.Switched, p.Info().Denoiser)
		}
		if f := render(t, p, 1); f.Width != 32 {
			t.Errorf("%s: the picture is %d pixels wide", name, f.Width)
		}
	}
}
