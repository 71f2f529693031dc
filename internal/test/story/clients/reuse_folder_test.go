package clients_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/story"
	"svc.example/internal/work/synthetic"
)

// TestAFolderProvesTheFramesThatWereTakenOver: each client keeps the receipts that they come
// from, and each verifies what another one kept.
func TestAFolderProvesTheFramesThatWereTakenOver(t *testing.T) {
	t.Parallel()
	svc := story.Start(t, app.Config{Listen: story.FreeAddress(t), Data: t.TempDir(), Database: dbtest.URL(t, "sqlite"), Log: story.LogOf(t), AllowSynthetic: true})
	svc.Worker(synthetic.Renderer{})
	c := svc.Caller(story.Credit)
	render := func(name string) string {
		t.Helper()
		q, err := c.Inspect(story.Patient(t), client.InspectRequest{
			Filename: name + ".blend", Body: bytes.NewReader(story.Revision(t, name)), Frames: "96-98", Settings: client.Settings{ResolutionX: 32, ResolutionY: 18}, Reuse: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		job, err := c.Take(q)
		if err != nil {
			t.Fatal(err)
		}
		return c.Await(job.JobID, client.StatusCompleted).JobID
	}
	first, job := render("scene"), render("moved")

	root := t.TempDir()
	folder := func(name string) string { return filepath.Join(root, name) }
	if _, err := c.Sync(story.Patient(t), job, folder("go"), func(client.FrameSaved) {}, func(client.Event) {}); err != nil {
		t.Fatal(err)
	}
	if err := c.SaveProof(story.Patient(t), job, folder("go")); err != nil {
		t.Fatal(err)
	}
	program := func(arguments ...string) string {
		t.Helper()
		command := exec.CommandContext(story.Patient(t), apptest.Binary(t), arguments...)
		command.Env = append(os.Environ(), "SVC_SERVER="+svc.URL, "SVC_KEY="+c.Agent.Secret)
		said, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v\n%s", arguments, err, said)
		}
		return string(said)
	}
	program("sync", job, folder("svc"))
	program("download", job, "--out", folder("download"))
	var told struct {
		NotChecked []string `json:"not_checked"`
		Reused     []string
	}
	pythonSDK.run(t, &told, "tests/origins.py", svc.URL, c.Agent.Secret, job, folder("python"))
	typescriptSDK.run(t, &told, "tests/origins.mjs", svc.URL, c.Agent.Secret, job, folder("typescript"))

	verify := func(name string, want bool) {
		t.Helper()
		const proven = "1 frame of 3 are those of earlier receipts and cost nothing"
		for _, s := range []sdk{pythonSDK, typescriptSDK} {
			s.run(t, &told, strings.Replace(s.project, "project", "origins", 1), svc.URL, c.Agent.Secret, "", folder(name))
			if slices.Contains(told.NotChecked, "reused") == want || slices.Equal(told.Reused, []string{proven}) != want {
				t.Errorf("%s: of the folder of %s it says %+v", s.folder, name, told)
			}
		}
		checks, err := client.VerifyFolder(folder(name), nil)
		if found := slices.Contains(checks, client.Check{Name: "reused", Status: "ok", Text: proven}); err != nil || found != want {
			t.Errorf("Go: of the folder of %s it says %+v, %v", name, checks, err)
		}
		if said := program("verify", folder(name)); strings.Contains(said, proven) != want || strings.Contains(said, "NOT CHECKED: reused") == want {
			t.Errorf("svc verify says of the folder of %s:\n%s", name, said)
		}
	}
	for _, name := range []string{"go", "svc", "download", "python", "typescript"} {
		verify(name, true)
	}

	// A receipt that is missing, or is that of another job, is told.
	kept, err := filepath.Glob(folder("go") + "/origins/RCT-*.json")
	if err != nil || len(kept) != 1 {
		t.Fatalf("the folder keeps %q, %v", kept, err)
	}
	if err := os.Remove(kept[0]); err != nil {
		t.Fatal(err)
	}
	verify("go", false)
	if text, err := os.ReadFile(folder("svc") + "/receipt.json"); err != nil || os.WriteFile(kept[0], text, 0o600) != nil {
		t.Fatal(err)
	}
	verify("go", false)
	if earlier, err := c.Receipt(story.Patient(t), first); err != nil || earlier.Origins != nil {
		t.Errorf("a receipt of rendered frames names %+v, %v", earlier, err)
	}
}
