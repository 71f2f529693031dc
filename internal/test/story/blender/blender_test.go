package blender_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/render/blender"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/story"
	"svc.example/internal/work/worker"
)

func TestABlenderThatIsKilledMidFrameIsReplaced(t *testing.T) {
	t.Parallel()
	path := story.RealBlender(t)
	svc := story.Start(t, app.Config{Listen: "127.0.0.1:0", Data: t.TempDir(), Database: dbtest.URL(t, "sqlite"), Log: story.LogOf(t)})
	c := svc.Caller(story.Credit)
	folder := t.TempDir()
	var once sync.Once
	svc.Worker(watched{worker.Blender{Path: path}, func() {
		once.Do(func() { killBlender(t, folder) })
	}}, story.OnCPU, func(w *worker.Config) { w.WorkDir = folder })
	scene, err := story.QuickScene()
	if err != nil {
		t.Fatal(err)
	}
	job, err := c.Take(c.QuoteOf(scene, 2))
	if err != nil {
		t.Fatal(err)
	}
	job = c.Await(job.JobID, client.StatusCompleted)
	if attempt := svc.Frames(job.JobID)[0].Attempt; attempt != 2 {
		t.Errorf("frame 1 was accepted of attempt %d, want the second", attempt)
	}
	file := filepath.Join(t.TempDir(), "job.zip")
	artifact, err := c.Download(story.Patient(t), job.JobID, file, nil)
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c.Verify(story.Patient(t), job, content, artifact.SHA256)
	story.WantPictures(t, content, 2, 96, 54)
	if job.RenderDevice != "CPU" {
		t.Errorf("the job says it was rendered on %s", job.RenderDevice)
	}
	svc.SettledOnce(c, 2)
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
