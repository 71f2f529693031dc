package worker_test

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.example/internal/render/blender"
	"svc.example/internal/work/worker"
)

// sceneOf makes a scene with a committed script, which writes to a file, or to a
// folder with the file inside.
func sceneOf(t *testing.T, path, script, name string) []byte {
	t.Helper()
	target := t.TempDir()
	file := filepath.Join(target, name)
	args := []string{"--background", "--factory-startup", "-noaudio", "--python-exit-code", "3", "--python", filepath.Join("../../../scripts/scenes", script), "--"}
	if script == "simulations.py" {
		args = append(args, target, strings.TrimSuffix(name, ".blend"))
	} else {
		args = append(args, file)
	}
	out, err := exec.Command(path, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("make the scene: %v\n%s", err, out)
	}
	scene, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return scene
}

// realBlender is the path of the Blender that a test drives.
func realBlender(t *testing.T) (path string) {
	t.Helper()
	path, err := blender.Find(os.Getenv("SVC_BLENDER"), blender.DataHome())
	if err != nil {
		t.Fatalf("this test drives a real Blender: run scripts/install-blender, or set SVC_BLENDER: %v", err)
	}
	return path
}

func TestWorkerRendersWithARealBlender(t *testing.T) {
	t.Parallel()
	path := realBlender(t)
	s := newServer(0)
	s.input = sceneOf(t, path, "render_light.py", "light.blend")
	b := newBench(t, s, nil)
	b.config.Renderer = worker.Blender{Path: path}
	b.config.Device, b.config.AllowBlenderVersion = blender.CPU, true
	stop := b.run()
	b.until(func() bool { return len(s.workers) == 1 })
	begun := time.Now()
	s.add("JOB-1", 20)
	b.untilHas(20)
	t.Logf("20 frames, from the job's arrival at a warm worker to the last delivery: %s", time.Since(begun))
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, f := range s.jobs[0].frames {
		seen[f.done.PixelSHA256] = true
		if f.done.Width != 320 || f.done.Height != 180 || f.done.Device != "CPU" || f.done.DeviceName == "" || f.done.Log == "" {
			t.Errorf("frame %d: %+v", f.number, f.done)
		}
		if times := f.done.Times; times == nil || times.Sync < 0 || times.Render <= 0 || times.Encode < 0 || math.Abs(times.Sync+times.Render+times.Encode-f.done.RenderSeconds) > 1e-6 {
			t.Errorf("frame %d took %v s, of which %+v", f.number, f.done.RenderSeconds, times)
		} else if (times.Load > 0) != (f.number == 1) || times.Transfer < 0 || times.Waiting < 0 {
			t.Errorf("frame %d: %+v", f.number, times)
		}
	}
	if len(seen) != 20 {
		t.Errorf("%d different pictures of 20", len(seen))
	}
	if left, err := os.ReadDir(filepath.Join(b.config.WorkDir, "processes")); err != nil || len(left) != 0 {
		t.Errorf("processes left %v, %v", left, err)
	}
}

func TestSeveralRealBlendersPaintWhatOneDoes(t *testing.T) {
	t.Parallel()
	path := realBlender(t)
	input := sceneOf(t, path, "render_light.py", "light.blend")
	rendered := func(blenders int) (pixels []string) {
		s := newServer(0)
		s.input = input
		b := newBench(t, s, nil)
		b.config.Renderer, b.config.Blenders = worker.Blender{Path: path}, blenders
		b.config.Device, b.config.AllowBlenderVersion = blender.CPU, true
		s.add("JOB-1", 12)
		stop := b.run()
		b.untilHas(12)
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		for _, f := range s.jobs[0].frames {
			pixels = append(pixels, f.done.PixelSHA256)
		}
		return pixels
	}
	if one, two := rendered(1), rendered(2); !slices.Equal(one, two) {
		t.Errorf("one Blender painted %v, two %v", one, two)
	}
}

// A worker that gets frames 4 to 6 of an animation renders those of the whole one.
func TestRealSimulationIsPlayedToTheFrame(t *testing.T) {
	t.Parallel()
	path := realBlender(t)
	input := sceneOf(t, path, "simulations.py", "particles.blend")
	rendered := func(frames ...int) map[int]string {
		s := newServer(0)
		s.input = input
		j := &job{id: "JOB-1"}
		for _, n := range frames {
			j.frames = append(j.frames, &frame{number: n})
		}
		s.jobs = []*job{j}
		b := newBench(t, s, nil)
		b.config.Renderer = worker.Blender{Path: path}
		b.config.Device, b.config.AllowBlenderVersion = blender.CPU, true
		stop := b.run()
		b.untilHas(len(frames))
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		pixels := map[int]string{}
		for _, f := range j.frames {
			pixels[f.number] = f.done.PixelSHA256
			if slices.Contains(f.done.Switched, "persistent_data_off") || f.attempt != 1 {
				t.Errorf("frame %d: attempt %d, switched %v", f.number, f.attempt, f.done.Switched)
			}
		}
		return pixels
	}
	whole, end := rendered(1, 2, 3, 4, 5, 6), rendered(4, 5, 6)
	for n, sum := range end {
		if sum != whole[n] {
			t.Errorf("frame %d is another one when the job begins at frame 4", n)
		}
	}
	if whole[4] == whole[6] {
		t.Error("nothing moves in the scene")
	}
}
