package blender_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"svc.example/internal/render/blender"
	"svc.example/internal/test/long"
)

// simulations makes the scenes of scripts/scenes/simulations.py once a run; the folder is
// removed by TestMain.
var simulations = sync.OnceValues(func() (string, error) {
	return makeScenes("simulations.py", simulated()...)
})

func simulation(t *testing.T, name string) string {
	t.Helper()
	find(t)
	dir, err := simulations()
	if err != nil {
		t.Fatalf("make the test scenes: %v", err)
	}
	return filepath.Join(dir, name+".blend")
}

// simulated names the scenes of the test: each kind of simulation, and each way in which
// an animation can come to it.
func simulated() []string {
	names := []string{"cloth_kept", "cloth_blurred", "cloth_from_zero", "cloth_in_steps_kept", "particles", "hair_kept", "dynamic_paint", "smoke_kept", "white_point_kept"}
	if long.Run() {
		names = append(names, "cloth", "hair", "liquid_kept", "soft_body", "soft_body_kept", "rigid_body", "rigid_body_kept", "smoke", "liquid",
			"cloth_blurred_kept", "cloth_from_zero_kept", "cloth_in_steps", "particles_kept", "dynamic_paint_kept", "white_point")
	}
	return names
}

// animation renders the scene's frames up to last as `blender -a` does, and returns the
// hash of the pixels of each. It works on a copy: what Blender writes next to a file
// must not meet another.
func animation(t *testing.T, file string, start, last int) map[int]string {
	t.Helper()
	dir := t.TempDir()
	copied := filepath.Join(dir, "scene.blend")
	content, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(copied, content, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(find(t), "--background", "--factory-startup", "-noaudio", copied,
		"-o", filepath.Join(dir, "frame_"), "-s", fmt.Sprint(start), "-e", fmt.Sprint(last), "-a").CombinedOutput()
	if err != nil {
		t.Fatalf("render by hand: %v\n%s", err, out)
	}
	frames := map[int]string{}
	for n := start; n <= last; n++ {
		path := filepath.Join(dir, fmt.Sprintf("frame_%04d.png", n))
		if _, err := os.Stat(path); err == nil {
			frames[n] = picture(t, path).SHA256
		}
	}
	return frames
}

// A frame is that of the whole animation, whichever frames before it were rendered.
func TestFramesOfSimulationsAreThoseOfTheAnimation(t *testing.T) {
	t.Parallel()
	for _, name := range simulated() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := simulation(t, name)
			first, step := 1, 1
			if strings.Contains(name, "from_zero") {
				first = 0
			}
			if strings.Contains(name, "in_steps") {
				step = 3
			}
			want := animation(t, file, first, 10)
			for _, frames := range [][]int{{10}, {4, 7, 10}} {
				p := start(t, blender.Options{KeepData: true})
				in := blender.SingleFile(file)
				in.Frames = &blender.Frames{First: frames[0], Last: 10, Step: 3}
				if len(frames) == 1 { // a frame alone has no steps, and is one of the scene's own
					in.Frames.Step = 1
				}
				opened, err := p.Open(t.Context(), in)
				if err != nil || !opened.Plays || opened.KeepsData {
					t.Fatalf("opened %+v: %v", opened, err)
				}
				next := first
				for _, n := range frames {
					played, err := p.Play(t.Context(), n)
					if before := (n - next) / step; err != nil || played != before {
						t.Fatalf("played %d frames before %d, want %d: %v", played, n, before, err)
					}
					next = n + step
					if got := picture(t, render(t, p, n).Path).SHA256; got != want[n] {
						t.Errorf("frame %d of %v is not that of the animation", n, frames)
					}
				}
			}
			// Otherwise equal pictures would prove nothing.
			if name == "cloth_kept" && want[4] == want[10] {
				t.Error("frames 4 and 10 are alike")
			}
		})
	}
}

// Render plays automatically what was not played.
func TestAFrameIsRightWithoutPlay(t *testing.T) {
	t.Parallel()
	file := simulation(t, "cloth_kept")
	p := start(t, blender.Options{})
	if _, err := p.Open(t.Context(), blender.SingleFile(file)); err != nil {
		t.Fatal(err)
	}
	if got := picture(t, render(t, p, 5).Path).SHA256; got != animation(t, file, 1, 5)[5] {
		t.Error("frame 5 is not that of the animation")
	}
	_, err := p.Render(t.Context(), 3, nil)
	if failed, ok := errors.AsType[*blender.Error](err); !ok || failed.Code != blender.Crashed {
		t.Errorf("a frame that was passed: %v", err)
	}
}
