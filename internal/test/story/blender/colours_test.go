package blender_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/render/pixels"
	"svc.example/internal/test/ociotest"
	"svc.example/internal/test/story"
	"svc.example/internal/work/worker"
)

// colouredShot is a scene of two frames in a folder with a configuration of its own, and the hashes
// of its frames' pixels as the program renders them with the configuration and without it.
func colouredShot(t *testing.T, program string) (files map[string]string, with, without []string) {
	t.Helper()
	scene, err := story.QuickScene()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	file := filepath.Join(folder, "shot.blend")
	if err := os.WriteFile(file, scene, 0o600); err != nil {
		t.Fatal(err)
	}
	// A worker that has to switch denoising off renders nothing that is reused.
	if err := story.Edit(program, file, "s.cycles.use_denoising = False; s.view_settings.look = 'None'"); err != nil {
		t.Fatal(err)
	}
	if scene, err = os.ReadFile(file); err != nil {
		t.Fatal(err)
	}
	ociotest.Write(t, folder)
	pictures := func(config string) (hashes []string) {
		out := t.TempDir()
		c := exec.CommandContext(story.Patient(t), program, "--background", "--factory-startup", "-noaudio", file, "-o", filepath.Join(out, "frame_"), "-a")
		c.Env = append(os.Environ(), "OCIO="+config)
		if said, err := c.CombinedOutput(); err != nil {
			t.Fatalf("render by hand: %v\n%s", err, said)
		}
		for _, name := range []string{"frame_0001.png", "frame_0002.png"} {
			hashes = append(hashes, pixelsOf(t, filepath.Join(out, name)))
		}
		return hashes
	}
	files = ociotest.Files()
	files["shot.blend"] = string(scene)
	return files, pictures(filepath.Join(folder, ociotest.Config)), pictures("")
}

// pixelsOf is the hash of a picture's pixels.
func pixelsOf(t *testing.T, path string) string {
	t.Helper()
	picture, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = picture.Close() }()
	seen, err := pixels.Read(picture)
	if err != nil {
		t.Fatal(err)
	}
	return seen.SHA256
}

// inspected is the quote of a project's files.
func inspected(t *testing.T, c story.Caller, files map[string]string, s client.Settings) (*client.Quote, error) {
	t.Helper()
	tree := fstest.MapFS{}
	for path, text := range files {
		tree[path] = &fstest.MapFile{Data: []byte(text)}
	}
	p, err := client.ListProject(t.Context(), tree, "shot.blend", slices.Sorted(maps.Keys(files)), nil)
	if err != nil {
		t.Fatal(err)
	}
	return c.InspectProject(story.Patient(t), client.ProjectRequest{Project: p, Settings: s, Reuse: true})
}

// Frames have the colours of the project's configuration, as Blender renders them with it by hand.
// The receipt names it, svc and both SDKs verify that, and frames are reused only with the same
// configuration and LUTs.
func TestAProjectIsRenderedInItsOwnColours(t *testing.T) {
	path := story.RealBlender(t)
	files, with, without := colouredShot(t, path)
	if slices.Equal(with, without) {
		t.Fatal("the configuration changes nothing")
	}
	own := client.Settings{OCIO: ociotest.Config}
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		svc.Worker(worker.Blender{Path: path}, story.OnCPU)
		rendered := func(s client.Settings) (hashes []string, job *client.Job) {
			t.Helper()
			q, err := inspected(t, c, files, s)
			if err != nil || q.ReusedFrames != "" || q.Settings != s || len(q.Warnings) > 0 {
				t.Fatalf("quoted %+v, %v", q, err)
			}
			look, err := c.OrderPreview(story.Patient(t), q.UploadID, 1)
			if err == nil {
				look, err = c.AwaitPreview(story.Patient(t), look, nil)
			}
			if err != nil || look.Status != "ready" {
				t.Errorf("the test frame is %+v, %v", look, err)
			}
			started, err := c.Take(q)
			if err != nil {
				t.Fatal(err)
			}
			job = c.Await(started.JobID, client.StatusCompleted)
			for _, f := range svc.Frames(job.JobID) {
				hashes = append(hashes, f.PixelSha256)
			}
			return hashes, job
		}
		plain, _ := rendered(client.Settings{})
		frames, job := rendered(own) // by the same worker, after a job with Blender's own colours
		if !slices.Equal(plain, without) || !slices.Equal(frames, with) {
			t.Errorf("frames %.9q, by hand %.9q; with Blender's own colours %.9q, by hand %.9q", frames, with, plain, without)
		}
		content, p := c.VerifiedZIP(job), c.Proven(job)
		if receipt := string(p.Receipt.Members); !strings.Contains(receipt, `"ocio":{"path":"`+ociotest.Config+`","sha256":"`) {
			t.Errorf("the receipt is %s", receipt)
		}
		keys := []map[string]string{}
		for _, key := range p.Keys {
			keys = append(keys, map[string]string{"key_id": key.KeyID, "public_key_pem": key.PublicKeyPEM})
		}
		for language, got := range judge(t, map[string]any{"receipt": []byte(p.Receipt.Envelope), "keys": keys, "zip": content}) {
			if got != "\n" {
				t.Errorf("%s finds %q", language, got)
			}
		}

		again, err := inspected(t, c, files, own)
		if err != nil || again.ReusedFrames != "1-2" {
			t.Errorf("the same again reuses %+v, %v", again, err)
		}
		lut, settings := maps.Clone(files), maps.Clone(files)
		lut[ociotest.LUT] = strings.Replace(lut[ociotest.LUT], "0.4", "0.5", 1)
		settings[ociotest.Config] += "# another revision\n"
		for _, other := range []map[string]string{lut, settings} {
			if q, err := inspected(t, c, other, own); err != nil || q.ReusedFrames != "" {
				t.Errorf("another configuration reuses %+v, %v", q, err)
			}
		}
	})
}
