package blender_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/test/await"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/story"
	"svc.example/internal/work/reuse"
	"svc.example/internal/work/worker"
)

// A real Blender renders reused frames again, in a process of its own, and paints the same pixels.
// The scene is denoised and its output is a movie: its worker switches both off, as each other one
// here does, and so its frames are reused all the same, with the files of its File Output node.
func TestBlenderRepeatsReusedFrames(t *testing.T) {
	t.Parallel()
	path := story.RealBlender(t)
	svc := story.Start(t, app.Config{Listen: "127.0.0.1:0", Data: t.TempDir(), Database: dbtest.URL(t, "sqlite"), Log: story.LogOf(t), VerifyReuse: new(100)})
	c := svc.Caller(story.Credit)
	scene, err := story.QuickScene()
	file := filepath.Join(t.TempDir(), "scene.blend")
	if err == nil {
		err = os.WriteFile(file, scene, 0o600)
	}
	if err == nil {
		err = story.Edit(path, file, "s.cycles.use_denoising = True; s.render.image_settings.file_format = 'FFMPEG'; s.use_nodes = True; "+
			"nodes = s.node_tree.nodes; out = nodes.new('CompositorNodeOutputFile'); out.base_path = '//layers'; "+
			"s.node_tree.links.new(next(n for n in nodes if n.type == 'R_LAYERS').outputs['Image'], out.inputs[0])")
	}
	if err == nil {
		scene, err = os.ReadFile(file)
	}
	if err != nil {
		t.Fatal(err)
	}
	svc.Worker(worker.Blender{Path: path}, story.OnCPU)
	for _, reused := range []string{"", "1-2"} {
		q, err := c.Inspect(story.Patient(t), client.InspectRequest{Filename: "scene.blend", Body: bytes.NewReader(scene), Reuse: true})
		if err != nil || q.ReusedFrames != reused {
			t.Fatalf("quoted %+v, %v, want %q reused", q, err, reused)
		}
		started, err := c.Take(q)
		if err != nil {
			t.Fatal(err)
		}
		c.Await(started.JobID, client.StatusCompleted)
		frames, err := c.Frames(story.Patient(t), started.JobID)
		if err != nil || len(frames) != 2 || len(frames[0].Outputs) != 1 || frames[0].Outputs[0].Name != "layers/Image0001.exr" {
			t.Errorf("the frames are %+v, %v", frames, err)
		}
	}
	await.Until(t, "both reused frames are the same again", func() (same bool) {
		svc.Read(func(ctx context.Context, tx *db.Tx) error {
			all, err := reuse.Standings(ctx, tx)
			same = len(all) == 1 && all[0].Agreed == 2 && all[0].Differed == 0
			return err
		})
		return same
	})
}
