package workers_test

import (
	"bytes"
	"context"
	"image/jpeg"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/test/await"
	"svc.example/internal/test/story"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/wallet"
	"svc.example/internal/work/worker"
)

// lookAt orders a preview of a frame of an upload; frame 0 names none.
func lookAt(c story.Caller, uploadID string, frame int) *client.UploadPreview {
	c.T.Helper()
	p, err := c.OrderPreview(story.Patient(c.T), uploadID, frame)
	if err != nil {
		c.T.Fatal(err)
	}
	return p
}

// awaitLook follows a preview until it has ended, which must be with that status.
func awaitLook(c story.Caller, p *client.UploadPreview, status string) *client.UploadPreview {
	c.T.Helper()
	p, err := c.AwaitPreview(story.Patient(c.T), p, nil)
	if err != nil {
		c.T.Fatal(err)
	}
	if p.Status != status {
		c.T.Fatalf("the preview is %s (failure %+v), want %s", p.Status, p.Failure, status)
	}
	return p
}

// pink makes the scene's plane one whose texture is missing, and shows colours as they
// are.
const pink = `
s.view_settings.view_transform = 'Standard'; m = bpy.data.materials.new('Floor'); m.use_nodes = True; n = m.node_tree.nodes
i = bpy.data.images.new('wood', 4, 4); i.source = 'FILE'; i.filepath = '//wood.png'
t = n.new('ShaderNodeTexImage'); t.image = i; e = n.new('ShaderNodeEmission')
m.node_tree.links.new(t.outputs[0], e.inputs[0]); m.node_tree.links.new(e.outputs[0], n['Material Output'].inputs[0])
[(o.data.materials.clear(), o.data.materials.append(m)) for o in s.objects if o.type == 'MESH']
s.frame_end = 5; s.cycles.samples = 64; s.cycles.use_adaptive_sampling = False`

// TestAFreeLookShowsTheSceneAndMovesNoMoney: by a real Blender, for a person with an
// empty wallet, of a scene with a missing texture.
func TestAFreeLookShowsTheSceneAndMovesNoMoney(t *testing.T) {
	path := story.RealBlender(t)
	folder := t.TempDir()
	file := filepath.Join(folder, "pink.blend")
	scene, err := story.QuickScene()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, scene, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := story.Edit(path, file, pink); err != nil {
		t.Fatal(err)
	}
	if scene, err = os.ReadFile(file); err != nil {
		t.Fatal(err)
	}
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		c := svc.Caller(0)
		svc.Worker(worker.Blender{Path: path}, story.OnCPU)
		q := c.QuoteOf(scene, 5)
		p := awaitLook(c, lookAt(c, q.UploadID, 0), client.PreviewReady)
		if p.Frame != 3 || p.Width != 96 || p.Height != 54 || p.Seconds <= 0 {
			t.Errorf("the preview is %+v, want frame 3 of 96 x 54", p)
		}
		if e := p.Estimate; e == nil || e.FrameLow <= 0 || e.FrameHigh < e.FrameLow || e.TotalHigh == nil || *e.TotalHigh < *e.TotalLow {
			t.Errorf("the estimate is %+v", e)
		}
		var found []string
		for _, w := range p.Findings {
			found = append(found, w.Code)
		}
		if !slices.Contains(found, "pink") || found[0] != "pink" || !slices.Contains(found, "missing_files") {
			t.Errorf("the findings are %v, want the pink picture and the missing file", found)
		}
		picture, err := c.PreviewImage(story.Patient(t), p)
		if err != nil {
			t.Fatal(err)
		}
		if img, err := jpeg.Decode(bytes.NewReader(picture)); err != nil || img.Bounds().Dx() != 96 {
			t.Errorf("the picture cannot be read: %v", err)
		}
		svc.WantMoney(c.Workspace, 0)
		for job, err := range c.Jobs(story.Patient(t), client.JobsRequest{}) {
			t.Errorf("there is a job: %+v, %v", job, err)
		}
	})
}

// TestAPaidFrameNeverWaitsForAPreview: the one worker renders a preview that takes for
// ever, until it gets a frame; then the preview is rendered once more.
func TestAPaidFrameNeverWaitsForAPreview(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		free, paying := svc.Caller(0), svc.Caller(story.Credit)
		slow := story.BarrierAt(0)
		p := &story.Painter{Look: slow.Pass}
		svc.Worker(p)
		look := lookAt(free, free.QuoteFrames(3).UploadID, 2)
		if _, err := slow.Await(story.Patient(t)); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			paying.Await(paying.StartFrames(3).JobID, client.StatusCompleted)
		}
		if look, err := free.FindPreview(story.Patient(t), look.UploadID, 2); err != nil || look.Ended() {
			t.Errorf("meanwhile the preview is %+v, %v", look, err)
		}
		slow.Open()
		awaitLook(free, look, client.PreviewReady)
		svc.WantMoney(free.Workspace, 0)
		svc.WantMoney(paying.Workspace, story.Credit-6, wallet.Credited, wallet.Reserved, wallet.Captured, wallet.Reserved, wallet.Captured)
	})
}

// TestADeletedUploadEndsItsPreview: under the worker's hands, and nothing of it is left.
func TestADeletedUploadEndsItsPreview(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		config.LeaseLife = story.Lapse
		svc := story.Start(t, config)
		c := svc.Caller(0)
		slow := story.BarrierAt(0)
		ended := make(chan error, 10)
		svc.Worker(&story.Painter{Look: func(ctx context.Context, frame int) error {
			err := slow.Pass(ctx, frame)
			ended <- err
			return err
		}})
		q := c.QuoteFrames(3)
		look := lookAt(c, q.UploadID, 0)
		if _, err := slow.Await(story.Patient(t)); err != nil {
			t.Fatal(err)
		}
		r, err := http.NewRequestWithContext(story.Patient(t), http.MethodDelete, svc.URL+"/node/v1/uploads/"+q.UploadID, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+c.Agent.Secret)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if _ = res.Body.Close(); res.StatusCode != http.StatusOK {
			t.Fatalf("deleting the upload answers %s", res.Status)
		}
		if err := await.Next(t, ended, "the end of the render"); err == nil {
			t.Error("the preview of a deleted upload was rendered to its end")
		}
		if _, err := c.FindPreview(story.Patient(t), look.UploadID, 0); err == nil {
			t.Error("the preview of a deleted upload is there")
		}
		slow.Open()
		awaitLook(c, lookAt(c, c.QuoteFrames(3).UploadID, 0), client.PreviewReady) // the worker continues
	})
}

// TestAPreviewOfAWorkerThatVanishesIsRenderedByAnother and the one that it held is refused.
func TestAPreviewOfAWorkerThatVanishesIsRenderedByAnother(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		config.LeaseLife = story.Lapse
		svc := story.Start(t, config)
		c := svc.Caller(0)
		look := lookAt(c, c.QuoteFrames(3).UploadID, 0)
		if look.WaitingReason != "no_worker_online" {
			t.Errorf("without a worker it waits for %q", look.WaitingReason)
		}
		gone := svc.ManualWorker()
		got, err := gone.Lease(story.Patient(t), farmapi.LeaseRequest{WorkerID: gone.ID, Max: 1, WaitSeconds: 10, Previews: true})
		if err != nil || got.Job == nil || got.Job.Preview == nil || got.Job.JobID != look.PreviewID {
			t.Fatalf("leased %+v, %v", got, err)
		}
		svc.Worker(&story.Painter{})
		awaitLook(c, look, client.PreviewReady)
		late := farmapi.FailRequest{WorkerID: gone.ID, LeaseID: got.Leases[0].LeaseID, Attempt: got.Leases[0].Attempt, Code: "blender_crashed", Message: "late"}
		if err := gone.Fail(story.Patient(t), late); err == nil {
			t.Error("a late report was taken")
		}
	})
}

// TestAPreviewSurvivesTheService: one that waits, one that a worker holds, and one that is
// there.
func TestAPreviewSurvivesTheService(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		c := svc.Caller(0)
		q := c.QuoteFrames(3)
		stop := svc.Worker(&story.Painter{})
		shown := awaitLook(c, lookAt(c, q.UploadID, 1), client.PreviewReady)
		stop()
		slow := story.BarrierAt(0)
		svc.Worker(&story.Painter{Look: slow.Pass})
		held := lookAt(c, q.UploadID, 2)
		if _, err := slow.Await(story.Patient(t)); err != nil {
			t.Fatal(err)
		}
		waits := lookAt(c, q.UploadID, 3)
		svc.Restart()
		slow.Open()
		for _, p := range []*client.UploadPreview{held, waits} {
			awaitLook(c, p, client.PreviewReady)
		}
		shown, err := c.FindPreview(story.Patient(t), shown.UploadID, 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.PreviewImage(story.Patient(t), shown); err != nil || shown.ExpiresAt == nil || time.Until(*shown.ExpiresAt) < 23*time.Hour {
			t.Errorf("the picture of before: %+v, %v", shown, err)
		}
	})
}
