package worker_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.example/internal/ground/blender"
	"svc.example/internal/work/worker"
)

// sceneOf makes a scene with a committed script, which writes to a file, or to a
// folder with the file inside.
func sceneOf(t *testing.T, path, script, name string) []byte {
	t.Helper()
	target := t.TempDir()
	file := filepath.Join(target, name)
	if script != "render_tests.py" {
		target = file
	}
	out, err := exec.Command(path, "--background", "--factory-startup", "-noaudio", "--python-exit-code", "3",
		"--python", filepath.Join("../../../scripts/scenes", script), "--", target).CombinedOutput()
	if err != nil {
		t.Fatalf("make the scene: %v\n%s", err, out)
	}
	scene, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return scene
}

func TestWorkerRendersWithARealBlender(t *testing.T) {
	t.Parallel()
	path, err := blender.Find(os.Getenv("SVC_BLENDER"), blender.DataHome())
	if err != nil {
		t.Fatalf("this test drives a real Blender: run scripts/install-blender, or set SVC_BLENDER: %v", err)
	}
	s := newServer(0)
	s.input = sceneOf(t, path, "render_light.py", "light.blend")
	b := newBench(t, s, nil)
	b.config.Renderer = worker.Blender{Path: path}
	b.config.Device, b.config.AllowBlenderVersion = blender.CPU, true
	stop := b.run()
	b.until(func() bool { return len(s.workers) == 1 })
	begun := time.Now()
	s.add("JOB-1", 20)
	b.untilDelivered(20)
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
	}
	if len(seen) != 20 {
		t.Errorf("%d different pictures of 20", len(seen))
	}
	if left, err := os.ReadDir(filepath.Join(b.config.WorkDir, "processes")); err != nil || len(left) != 0 {
		t.Errorf("processes left %v, %v", left, err)
	}
}

func TestRealSceneThatKeptDataSpoilsGoesOnWithoutIt(t *testing.T) {
	t.Parallel()
	path, err := blender.Find(os.Getenv("SVC_BLENDER"), blender.DataHome())
	if err != nil {
		t.Fatalf("this test drives a real Blender: run scripts/install-blender, or set SVC_BLENDER: %v", err)
	}
	s := newServer(6)
	s.input = sceneOf(t, path, "render_tests.py", "cloth.blend")
	b := newBench(t, s, nil)
	b.config.Renderer = worker.Blender{Path: path}
	b.config.Device, b.config.AllowBlenderVersion = blender.CPU, true
	stop := b.run()
	b.untilDelivered(6)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	for _, f := range s.jobs[0].frames {
		off := slices.Contains(f.done.Switched, "persistent_data_off")
		if off != (f.number >= 3) || off != strings.Contains(f.done.Log, "persistent data gave other pixels in frame 4") || f.attempt != 1 {
			t.Errorf("frame %d: attempt %d, switched %v", f.number, f.attempt, f.done.Switched)
		}
	}
}
