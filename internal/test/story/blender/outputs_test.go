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

// What five File Output nodes write for two frames is in the ZIP and in the receipt, which svc and
// both SDKs verify. The quote has nothing to warn of, and the frames are not reused.
func TestWhatFileOutputNodesWriteIsDeliveredAndProven(t *testing.T) {
	path := story.RealBlender(t)
	folder := t.TempDir()
	if out, err := exec.Command(path, "--background", "--factory-startup", "-noaudio", "--python-exit-code", "3", "--python", "../../../../scripts/scenes/outputs.py", "--", folder).CombinedOutput(); err != nil {
		t.Fatalf("make the scenes: %v\n%s", err, out)
	}
	scene, err := os.ReadFile(filepath.Join(folder, "five.blend"))
	if err != nil {
		t.Fatal(err)
	}
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		svc.Worker(worker.Blender{Path: path}, story.OnCPU)
		quoted := func() *client.Quote {
			t.Helper()
			q, err := c.Inspect(story.Patient(t), client.InspectRequest{Filename: "five.blend", Body: bytes.NewReader(scene), Frames: "7,12", Reuse: true})
			if err != nil || q.ReusedFrames != "" || slices.ContainsFunc(q.Warnings, func(w client.Warning) bool { return strings.HasPrefix(w.Code, "file_output") }) {
				t.Fatalf("quoted %+v, %v", q, err)
			}
			return q
		}
		started, err := c.Take(quoted())
		if err != nil {
			t.Fatal(err)
		}
		job := c.Await(started.JobID, client.StatusCompleted)
		quoted()
		content := c.VerifiedZIP(job)
		archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, entry := range archive.File {
			names = append(names, entry.Name)
		}
		want := []string{
			"output/frame_0007.png", "outputs/passes/beauty_0007.png", "outputs/passes/depth/z0007.exr", "outputs/multi/all_0007.exr", "outputs/passes/beauty_0007.tif", "outputs/tail/07_end.bmp", "outputs/grouped0007.jpg",
			"output/frame_0012.png", "outputs/passes/beauty_0012.png", "outputs/passes/depth/z0012.exr", "outputs/multi/all_0012.exr", "outputs/passes/beauty_0012.tif", "outputs/tail/12_end.bmp", "outputs/grouped0012.jpg",
			"manifest.json", "render-log.txt",
		}
		if !slices.Equal(names, want) {
			t.Errorf("the ZIP has %q, want %q", names, want)
		}
		p := c.Proven(job)
		if n := strings.Count(string(p.Receipt.Members), `"name":`); n != 12 {
			t.Errorf("the receipt has %d outputs", n)
		}
		var keys []map[string]string
		for _, key := range p.Keys {
			keys = append(keys, map[string]string{"key_id": key.KeyID, "public_key_pem": key.PublicKeyPEM})
		}
		flipped := bytes.Clone(content)
		flipped[bytes.Index(flipped, []byte("outputs/multi"))+100] ^= 1
		verified := judge(t, map[string]any{"receipt": []byte(p.Receipt.Envelope), "keys": keys, "zip": content}, map[string]any{"receipt": []byte(p.Receipt.Envelope), "keys": keys, "zip": flipped})
		for language, got := range verified {
			if got != "\nartifact\n" {
				t.Errorf("%s finds %q", language, got)
			}
		}
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
