package story_test

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
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/wallet"
	"svc.example/internal/work/worker"
)

// lookAt orders a preview of a frame of an upload; frame 0 names none.
func (c caller) lookAt(uploadID string, frame int) *client.UploadPreview {
	c.t.Helper()
	p, err := c.OrderPreview(patient(c.t), uploadID, frame)
	if err != nil {
		c.t.Fatal(err)
	}
	return p
}

// awaitLook follows a preview until it has ended, which must be with that status.
func (c caller) awaitLook(p *client.UploadPreview, status string) *client.UploadPreview {
	c.t.Helper()
	p, err := c.AwaitPreview(patient(c.t), p, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	if p.Status != status {
		c.t.Fatalf("the preview is %s (failure %+v), want %s", p.Status, p.Failure, status)
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

// TestAFreeLookShowsTheSceneAndMovesNoMoney: by a real Blender, to somebody whose wallet
// is empty, of a scene with a texture that is missing.
func TestAFreeLookShowsTheSceneAndMovesNoMoney(t *testing.T) {
	path := realBlender(t)
	folder := t.TempDir()
	file := filepath.Join(folder, "pink.blend")
	scene, err := quickScene()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, scene, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := edit(path, file, pink); err != nil {
		t.Fatal(err)
	}
	if scene, err = os.ReadFile(file); err != nil {
		t.Fatal(err)
	}
	each(t, func(t *testing.T, config app.Config) {
		svc := start(t, config)
		c := svc.caller(0)
		svc.worker(worker.Blender{Path: path}, onCPU)
		q := c.quoteOf(scene, 5)
		p := c.awaitLook(c.lookAt(q.UploadID, 0), client.PreviewReady)
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
		picture, err := c.PreviewImage(patient(t), p)
		if err != nil {
			t.Fatal(err)
		}
		if img, err := jpeg.Decode(bytes.NewReader(picture)); err != nil || img.Bounds().Dx() != 96 {
			t.Errorf("the picture cannot be read: %v", err)
		}
		svc.wantMoney(c.workspace, 0)
		for job, err := range c.Jobs(patient(t), client.JobsRequest{}) {
			t.Errorf("there is a job: %+v, %v", job, err)
		}
	})
}

// TestAPaidFrameNeverWaitsForAPreview: the one worker renders a preview that takes for
// ever, until it gets a frame; then the preview is rendered once more.
func TestAPaidFrameNeverWaitsForAPreview(t *testing.T) {
	each(t, func(t *testing.T, config app.Config) {
		svc := start(t, config)
		free, paying := svc.caller(0), svc.caller(credit)
		slow := barrierAt(0)
		p := &painter{look: slow.pass}
		svc.worker(p)
		look := free.lookAt(free.quote(3).UploadID, 2)
		if _, err := slow.await(patient(t)); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			paying.await(paying.start(3).JobID, client.StatusCompleted)
		}
		if look, err := free.FindPreview(patient(t), look.UploadID, 2); err != nil || look.Ended() {
			t.Errorf("meanwhile the preview is %+v, %v", look, err)
		}
		slow.open()
		free.awaitLook(look, client.PreviewReady)
		svc.wantMoney(free.workspace, 0)
		svc.wantMoney(paying.workspace, credit-6, wallet.Credited, wallet.Reserved, wallet.Captured, wallet.Reserved, wallet.Captured)
	})
}

// TestADeletedUploadEndsItsPreview: under the worker's hands, and nothing of it is left.
func TestADeletedUploadEndsItsPreview(t *testing.T) {
	each(t, func(t *testing.T, config app.Config) {
		config.LeaseLife = lapse
		svc := start(t, config)
		c := svc.caller(0)
		slow := barrierAt(0)
		ended := make(chan error, 10)
		svc.worker(&painter{look: func(ctx context.Context, frame int) error {
			err := slow.pass(ctx, frame)
			ended <- err
			return err
		}})
		q := c.quote(3)
		look := c.lookAt(q.UploadID, 0)
		if _, err := slow.await(patient(t)); err != nil {
			t.Fatal(err)
		}
		r, err := http.NewRequestWithContext(patient(t), http.MethodDelete, svc.url+"/node/v1/uploads/"+q.UploadID, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+c.agent.Secret)
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
		if _, err := c.FindPreview(patient(t), look.UploadID, 0); err == nil {
			t.Error("the preview of a deleted upload is there")
		}
		slow.open()
		c.awaitLook(c.lookAt(c.quote(3).UploadID, 0), client.PreviewReady) // the worker goes on
	})
}

// TestAPreviewOfAWorkerThatVanishesIsRenderedByAnother and the one that it held is refused.
func TestAPreviewOfAWorkerThatVanishesIsRenderedByAnother(t *testing.T) {
	each(t, func(t *testing.T, config app.Config) {
		config.LeaseLife = lapse
		svc := start(t, config)
		c := svc.caller(0)
		look := c.lookAt(c.quote(3).UploadID, 0)
		if look.WaitingReason != "no_worker_online" {
			t.Errorf("without a worker it waits for %q", look.WaitingReason)
		}
		gone := svc.manualWorker()
		got, err := gone.Lease(patient(t), farmapi.LeaseRequest{WorkerID: gone.id, Max: 1, WaitSeconds: 10, Previews: true})
		if err != nil || got.Job == nil || got.Job.Preview == nil || got.Job.JobID != look.PreviewID {
			t.Fatalf("leased %+v, %v", got, err)
		}
		svc.worker(&painter{})
		c.awaitLook(look, client.PreviewReady)
		late := farmapi.FailRequest{WorkerID: gone.id, LeaseID: got.Leases[0].LeaseID, Attempt: got.Leases[0].Attempt, Code: "blender_crashed", Message: "late"}
		if err := gone.Fail(patient(t), late); err == nil {
			t.Error("a late report was taken")
		}
	})
}

// TestAPreviewSurvivesTheService: one that waits, one that a worker holds, and one that is
// there.
func TestAPreviewSurvivesTheService(t *testing.T) {
	each(t, func(t *testing.T, config app.Config) {
		svc := start(t, config)
		c := svc.caller(0)
		q := c.quote(3)
		stop := svc.worker(&painter{})
		shown := c.awaitLook(c.lookAt(q.UploadID, 1), client.PreviewReady)
		stop()
		slow := barrierAt(0)
		svc.worker(&painter{look: slow.pass})
		held := c.lookAt(q.UploadID, 2)
		if _, err := slow.await(patient(t)); err != nil {
			t.Fatal(err)
		}
		waits := c.lookAt(q.UploadID, 3)
		svc.restart()
		slow.open()
		for _, p := range []*client.UploadPreview{held, waits} {
			c.awaitLook(p, client.PreviewReady)
		}
		shown, err := c.FindPreview(patient(t), shown.UploadID, 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.PreviewImage(patient(t), shown); err != nil || shown.ExpiresAt == nil || time.Until(*shown.ExpiresAt) < 23*time.Hour {
			t.Errorf("the picture of before: %+v, %v", shown, err)
		}
	})
}
