package synthetic_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"svc.example/internal/ground/demo"
	"svc.example/internal/render/blender"
	"svc.example/internal/render/pixels"
	"svc.example/internal/work/synthetic"
	"svc.example/internal/work/worker"
)

// opened is a session with the demo scene, of 480 x 270 pixels, open.
func opened(t *testing.T, r synthetic.Renderer) worker.Session {
	t.Helper()
	folder := t.TempDir()
	file := filepath.Join(folder, demo.Filename)
	if err := os.WriteFile(file, demo.Scene(), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := r.Start(t.Context(), blender.Options{Out: folder})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Open(t.Context(), blender.SingleFile(file)); err != nil {
		t.Fatal(err)
	}
	return s
}

func rendered(t *testing.T, s worker.Session, frame int) (blender.Frame, pixels.Picture, error) {
	t.Helper()
	f, err := s.Render(t.Context(), frame, nil)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(f.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	picture, err := pixels.Read(file)
	return f, picture, err
}

func TestPicturesAreWholeOfTheScenesSizeAndAllDifferent(t *testing.T) {
	t.Parallel()
	s, again := opened(t, synthetic.Renderer{}), opened(t, synthetic.Renderer{})
	seen := map[string]int{}
	for _, frame := range []int{1, 2, 256, 257, 512, 10000} {
		f, picture, err := rendered(t, s, frame)
		if err != nil || f.Number != frame || picture.Width != 480 || picture.Height != 270 || f.Width != 480 || f.Height != 270 {
			t.Errorf("frame %d: %+v, %+v, %v", frame, f, picture, err)
		}
		if other, ok := seen[picture.SHA256]; ok {
			t.Errorf("frames %d and %d look alike", frame, other)
		}
		seen[picture.SHA256] = frame
		if _, same, _ := rendered(t, again, frame); same.SHA256 != picture.SHA256 {
			t.Errorf("frame %d looks different the second time", frame)
		}
	}
}

func TestSessionDeclaresItselfSynthetic(t *testing.T) {
	t.Parallel()
	s := opened(t, synthetic.Renderer{})
	f, _, _ := rendered(t, s, 1)
	if info := s.Info(); !info.Synthetic || info.Version == "" || f.Device != "CPU" || f.DeviceName != synthetic.DeviceName {
		t.Errorf("%+v renders %+v", info, f)
	}
}

func TestOnlyRequestedFaultsOccur(t *testing.T) {
	t.Parallel()
	always := func(f synthetic.Fault) worker.Session {
		return opened(t, synthetic.Renderer{Faults: map[synthetic.Fault]float64{f: 1}})
	}
	if _, err := always(synthetic.Crash).Render(t.Context(), 1, nil); !failedWith(err, blender.Crashed) {
		t.Errorf("crash: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := always(synthetic.Hang).Render(ctx, 1, nil); !failedWith(err, blender.NoProgress) {
		t.Errorf("hang: %v", err)
	}
	if _, _, err := rendered(t, always(synthetic.Half), 1); err == nil {
		t.Error("half a file is a picture")
	}
	if f, picture, err := rendered(t, always(synthetic.Small), 1); err != nil || picture.Width != f.Width/2 {
		t.Errorf("small: %d of %d, %v", picture.Width, f.Width, err)
	}
	_, one, err := rendered(t, always(synthetic.Black), 1)
	_, two, _ := rendered(t, always(synthetic.Black), 2)
	if err != nil || one.SHA256 != two.SHA256 {
		t.Errorf("two black frames differ: %v", err)
	}
}

func failedWith(err error, code string) bool {
	failed, ok := errors.AsType[*blender.Error](err)
	return ok && failed.Code == code
}

func TestFrameTakesItsTimeAndReportsProgress(t *testing.T) {
	t.Parallel()
	low := synthetic.Renderer{FrameTime: time.Second, Jitter: 0.5, Random: func() float64 { return 0 }}
	s := opened(t, low)
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var reported []float64
		if _, err := s.Render(context.Background(), 1, func(share float64) { reported = append(reported, share) }); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took != 500*time.Millisecond {
			t.Errorf("it took %s, want the second less its jitter", took)
		}
		if len(reported) != 10 || reported[0] != 0.1 || reported[9] != 1 {
			t.Errorf("reported %v", reported)
		}
	})
}

func TestInvalidSettingsAreRefused(t *testing.T) {
	t.Parallel()
	for _, r := range []synthetic.Renderer{
		{FrameTime: -1}, {Jitter: 2}, {Faults: map[synthetic.Fault]float64{"melt": 0.1}},
		{Faults: map[synthetic.Fault]float64{synthetic.Crash: 0.6, synthetic.Hang: 0.6}},
	} {
		if r.Check() == nil {
			t.Errorf("%+v is taken", r)
		}
	}
	if err := (synthetic.Renderer{FrameTime: time.Second, Jitter: 1, Faults: map[synthetic.Fault]float64{synthetic.Black: 0.5}}).Check(); err != nil {
		t.Error(err)
	}
}
