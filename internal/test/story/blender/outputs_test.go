package blender_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/test/story"
	"svc.example/internal/work/worker"
)

// madeOutputs are the files of scripts/scenes/outputs.py.
func madeOutputs(t *testing.T, blender string) (read func(name string) []byte) {
	t.Helper()
	folder := t.TempDir()
	if out, err := exec.Command(blender, "--background", "--factory-startup", "-noaudio", "--python-exit-code", "3", "--python", "../../../../scripts/scenes/outputs.py", "--", folder).CombinedOutput(); err != nil {
		t.Fatalf("make the scenes: %v\n%s", err, out)
	}
	return func(name string) []byte {
		scene, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		return scene
	}
}

// quotedWhole is a quote of frames of a scene, which has nothing to warn of and reuses none.
func quotedWhole(t *testing.T, c story.Caller, name string, scene []byte, frames string, chosen client.Settings) *client.Quote {
	t.Helper()
	q, err := c.Inspect(story.Patient(t), client.InspectRequest{Filename: name, Body: bytes.NewReader(scene), Frames: frames, Settings: chosen, Reuse: true})
	unlike := func(w client.Warning) bool { return w.Severity != "time" }
	if err != nil || q.ReusedFrames != "" || slices.ContainsFunc(q.Warnings, unlike) {
		t.Fatalf("quoted %+v, %v", q, err)
	}
	return q
}

// entries are the names in a ZIP.
func entries(t *testing.T, content []byte) (names []string) {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range archive.File {
		names = append(names, entry.Name)
	}
	return names
}

// Both eyes of a scene and the JPEGs next to its OpenEXRs are in the ZIP and in the receipt, with the
// frame's name or with the scene's own. The quote has nothing to warn of, and the frames are not
// reused. Both eyes in one picture are a frame of twice the width.
func TestViewsAndPreviewsAreDeliveredAndProven(t *testing.T) {
	path := story.RealBlender(t)
	read := madeOutputs(t, path)
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		svc.Worker(worker.Blender{Path: path}, story.OnCPU)
		for _, ordered := range []struct {
			scene, name string
			width       int
			want        []string
		}{
			{"eyes_previews.blend", "", 48, []string{"output/frame_0007.exr", "outputs/frame_0007_L.jpg", "outputs/frame_0007_R.exr", "outputs/frame_0007_R.jpg"}},
			{"eyes_previews.blend", "scene", 48, []string{"output/0007.exr", "outputs/0007_L.jpg", "outputs/0007_R.exr", "outputs/0007_R.jpg"}},
			{"eyes_side.blend", "", 96, []string{"output/frame_0007.png"}},
		} {
			started, err := c.Take(quotedWhole(t, c, ordered.scene, read(ordered.scene), "7", client.Settings{OutputName: ordered.name}))
			if err != nil {
				t.Fatal(err)
			}
			job := c.Await(started.JobID, client.StatusCompleted)
			if names := entries(t, c.VerifiedZIP(job)); !slices.Equal(names, append(ordered.want, "manifest.json", "render-log.txt")) {
				t.Errorf("the ZIP of %s has %q, want %q", ordered.scene, names, ordered.want)
			}
			if n := strings.Count(string(c.Proven(job).Receipt.Members), `"name":`); n != len(ordered.want)-1 {
				t.Errorf("the receipt of %s has %d outputs", ordered.scene, n)
			}
			all, err := c.Frames(story.Patient(t), job.JobID)
			if err != nil || len(all) != 1 || all[0].Width != ordered.width {
				t.Errorf("the frames of %s are %+v, %v", ordered.scene, all, err)
			}
		}
	})
}

// What five File Output nodes write for two frames is in the ZIP and in the receipt, which svc and
// both SDKs verify. The quote has nothing to warn of. A second order takes the frames over with all
// of these files.
func TestWhatFileOutputNodesWriteIsDeliveredAndProven(t *testing.T) {
	path := story.RealBlender(t)
	scene := madeOutputs(t, path)("five.blend")
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		svc.Worker(worker.Blender{Path: path}, story.OnCPU)
		started, err := c.Take(quotedWhole(t, c, "five.blend", scene, "7,12", client.Settings{}))
		if err != nil {
			t.Fatal(err)
		}
		job := c.Await(started.JobID, client.StatusCompleted)
		content := c.VerifiedZIP(job)
		want := []string{
			"output/frame_0007.png", "outputs/passes/beauty_0007.png", "outputs/passes/depth/z0007.exr", "outputs/multi/all_0007.exr", "outputs/passes/beauty_0007.tif", "outputs/tail/07_end.bmp", "outputs/grouped0007.jpg",
			"output/frame_0012.png", "outputs/passes/beauty_0012.png", "outputs/passes/depth/z0012.exr", "outputs/multi/all_0012.exr", "outputs/passes/beauty_0012.tif", "outputs/tail/12_end.bmp", "outputs/grouped0012.jpg",
			"manifest.json", "render-log.txt",
		}
		again, err := c.Inspect(story.Patient(t), client.InspectRequest{Filename: "five.blend", Body: bytes.NewReader(scene), Frames: "7,12", Reuse: true})
		if err != nil || again.ReusedFrames != "7,12" || again.PriceCents != 0 {
			t.Fatalf("quoted again %+v, %v", again, err)
		}
		if started, err = c.Take(again); err != nil {
			t.Fatal(err)
		}
		for _, content := range [][]byte{content, c.VerifiedZIP(c.Await(started.JobID, client.StatusCompleted))} {
			if names := entries(t, content); !slices.Equal(names, want) {
				t.Errorf("the ZIP has %q, want %q", names, want)
			}
		}
		p := c.Proven(job)
		if n := strings.Count(string(p.Receipt.Members), `"name":`); n != 12 {
			t.Errorf("the receipt has %d outputs", n)
		}
		wantVerified(t, p, content)
	})
}

// judge has the SDKs verify cases; "" is a receipt that they accept.
func judge(t *testing.T, cases ...any) map[string]string {
	t.Helper()
	var lines bytes.Buffer
	for _, c := range cases {
		if err := json.NewEncoder(&lines).Encode(c); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "cases.jsonl")
	if err := os.WriteFile(path, lines.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	node, err := filepath.Abs("../../../../.tools/npm/node_modules/.bin/node")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for language, program := range map[string][]string{"python": {"python3", "tests/verify_cases.py"}, "typescript": {node, "tests/verify_cases.mjs"}} {
		command := exec.CommandContext(story.Patient(t), program[0], program[1], path)
		command.Dir, command.Env = filepath.Join("../../../../sdk", language), append(os.Environ(), "PYTHONPATH=.", "PYTHONDONTWRITEBYTECODE=1")
		command.Stderr = t.Output()
		out, err := command.Output()
		if err != nil {
			t.Fatalf("%s: %v", language, err)
		}
		found[language] = string(out)
	}
	return found
}
