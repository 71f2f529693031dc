package blender_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/story"
	"svc.example/internal/work/wallet"
	"svc.example/internal/work/worker"
)

// TestAFileWithoutEndFailsItsJob sends a file of one sample, which a keyframe makes 4
// million when it is rendered. The quote says how long a frame may take; the job fails by
// that and costs nothing.
func TestAFileWithoutEndFailsItsJob(t *testing.T) {
	t.Parallel()
	path := story.RealBlender(t)
	svc := story.Start(t, app.Config{Listen: "127.0.0.1:0", Data: t.TempDir(), Database: dbtest.URL(t, "sqlite"), FrameTime: 2 * time.Second, Log: story.LogOf(t)})
	c := svc.Caller(story.Credit)
	svc.Worker(worker.Blender{Path: path}, story.OnCPU)
	quote := c.QuoteOf(endless(t, path), 1)
	if quote.Scene.Samples != 1 || quote.MaximumFrameSeconds != 2 {
		t.Errorf("the quote says %d samples and %d seconds a frame", quote.Scene.Samples, quote.MaximumFrameSeconds)
	}
	job, err := c.Take(quote)
	if err != nil {
		t.Fatal(err)
	}
	job = c.Await(job.JobID, client.StatusFailed)
	if job.Failure == nil || job.Failure.Code != string(fault.FrameTimeExceeded) {
		t.Errorf("the job failed with %+v", job.Failure)
	}
	svc.WantMoney(c.Workspace, story.Credit, wallet.Credited, wallet.Reserved, wallet.Released)
}

// endless makes a scene of 1 sample as it is saved, and 4 million in frame 1: within the envelope, and minutes of work.
func endless(t *testing.T, program string) []byte {
	t.Helper()
	scene, err := story.QuickScene()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "endless.blend")
	if err := os.WriteFile(file, scene, 0o600); err != nil {
		t.Fatal(err)
	}
	const code = "s.cycles.use_adaptive_sampling = False; " +
		"s.cycles.samples = 1 << 22; s.keyframe_insert('cycles.samples', frame=1); " +
		"s.cycles.samples = 1; s.keyframe_insert('cycles.samples', frame=0); s.frame_set(0)" // what is saved is frame 0's
	if err := story.Edit(program, file, code); err != nil {
		t.Fatal(err)
	}
	if scene, err = os.ReadFile(file); err != nil {
		t.Fatal(err)
	}
	return scene
}
