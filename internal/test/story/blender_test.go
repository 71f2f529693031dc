package story_test

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/demo"
	"svc.example/internal/render/blender"
	"svc.example/internal/test/await"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/worker"
)

// realBlender finds the Blender of these stories; a machine without one is no
// place to run them.
func realBlender(t *testing.T) string {
	t.Helper()
	path, err := blender.Find(os.Getenv("SVC_BLENDER"), blender.DataHome())
	if err != nil {
		t.Fatalf("this story drives a real Blender: run scripts/install-blender, or set SVC_BLENDER: %v", err)
	}
	return path
}

// quickScene is the demo scene with pictures of 96x54 and two samples, two frames of
// it, made by a real Blender once for all stories.
var quickScene = sync.OnceValues(func() ([]byte, error) {
	folder, err := os.MkdirTemp("", "svc-scene-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	path := filepath.Join(folder, demo.Filename)
	if err := os.WriteFile(path, demo.Scene(), 0o600); err != nil {
		return nil, err
	}
	program, err := blender.Find(os.Getenv("SVC_BLENDER"), blender.DataHome())
	if err != nil {
		return nil, err
	}
	if err := edit(program, path, "s.frame_end = 2; s.render.resolution_percentage = 20; s.cycles.samples = 2"); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// edit changes a .blend in Blender: code knows bpy, and the scene as s.
func edit(program, path, code string) error {
	ctx, cancel := context.WithTimeout(context.Background(), await.Patience)
	defer cancel()
	code = "import bpy; s = bpy.context.scene; " + code + "; bpy.ops.wm.save_as_mainfile(filepath=" + strconv.Quote(path) + ")"
	command := exec.CommandContext(ctx, program, "--background", "--factory-startup", path, "--python-exit-code", "1", "--python-expr", code)
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", code, err, output)
	}
	return nil
}

// onCPU lets any Blender work, on the processor.
func onCPU(w *worker.Config) {
	w.Device, w.AllowBlenderVersion, w.Denoise = blender.CPU, true, blender.Off
}

func TestABlenderThatIsKilledMidFrameIsReplaced(t *testing.T) {
	t.Parallel()
	path := realBlender(t)
	svc := start(t, app.Config{Listen: "127.0.0.1:0", Data: t.TempDir(), Database: dbtest.URL(t, "sqlite"), Log: logOf(t)})
	c := svc.caller(credit)
	folder := t.TempDir()
	var once sync.Once
	svc.worker(watched{worker.Blender{Path: path}, func() {
		once.Do(func() { killBlender(t, folder) })
	}}, onCPU, func(w *worker.Config) { w.WorkDir = folder })
	scene, err := quickScene()
	if err != nil {
		t.Fatal(err)
	}
	job, err := c.take(c.quoteOf(scene, 2))
	if err != nil {
		t.Fatal(err)
	}
	job = c.await(job.JobID, client.StatusCompleted)
	if attempt := svc.frames(job.JobID)[0].Attempt; attempt != 2 {
		t.Errorf("frame 1 was accepted of attempt %d, want the second", attempt)
	}
	file := filepath.Join(t.TempDir(), "job.zip")
	artifact, err := c.Download(patient(t), job.JobID, file, nil)
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c.verify(patient(t), job, content, artifact.SHA256)
	wantPictures(t, content, 2, 96, 54)
	if job.RenderDevice != "CPU" {
		t.Errorf("the job says it was rendered on %s", job.RenderDevice)
	}
	svc.settledOnce(c, 2)
}

// wantPictures checks that a ZIP holds so many PNGs of that size, and no two
// alike.
func wantPictures(t *testing.T, content []byte, count, width, height int) {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, entry := range archive.File {
		if !strings.HasPrefix(entry.Name, "output/") {
			continue
		}
		seen++
		file, err := entry.Open()
		if err != nil {
			t.Fatal(err)
		}
		picture, err := png.Decode(file)
		if err != nil {
			t.Fatalf("%s: %v", entry.Name, err)
		}
		if size := picture.Bounds().Size(); size.X != width || size.Y != height {
			t.Errorf("%s is %v, want %dx%d", entry.Name, size, width, height)
		}
	}
	if seen != count {
		t.Errorf("the ZIP has %d frames, want %d", seen, count)
	}
}

// watched calls within while a frame is being rendered.
type watched struct {
	worker.Renderer
	within func()
}

func (w watched) Start(ctx context.Context, options blender.Options) (worker.Session, error) {
	s, err := w.Renderer.Start(ctx, options)
	if err != nil {
		return nil, err
	}
	return watchedSession{s, w.within}, nil
}

type watchedSession struct {
	worker.Session
	within func()
}

func (s watchedSession) Render(ctx context.Context, frame int, progress func(float64)) (blender.Frame, error) {
	return s.Session.Render(ctx, frame, func(share float64) {
		if share > 0 && share < 1 {
			s.within()
		}
		progress(share)
	})
}

// killBlender kills each Blender that works under that folder, not those of
// other stories.
func killBlender(t *testing.T, folder string) {
	processes, err := os.ReadDir("/proc")
	if err != nil {
		t.Error(err)
		return
	}
	for _, p := range processes {
		pid, err := strconv.Atoi(p.Name())
		if err != nil {
			continue
		}
		environment, err := os.ReadFile(filepath.Join("/proc", p.Name(), "environ"))
		if err != nil || !bytes.Contains(environment, []byte(folder)) {
			continue // it has ended, or is another's
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Errorf("kill Blender: %v", err)
		}
	}
}
