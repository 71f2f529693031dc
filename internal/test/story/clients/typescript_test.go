package clients_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"svc.example/internal/ground/demo"
	"svc.example/internal/test/story"
)

// npmFolder holds the pinned packages, and the Node that runs them.
const npmFolder = "../../../../.tools/npm/node_modules"

// TestATypeScriptClientMadeFromTheDocumentRendersAJob has other people's tools
// make a client from what the service says of itself, compile a program against
// it as strictly as they can, and run it. The wire is the same on both
// databases: one will do.
func TestATypeScriptClientMadeFromTheDocumentRendersAJob(t *testing.T) {
	t.Parallel()
	svc := story.SharedOn(t, "sqlite")
	c := svc.Caller(story.Credit)
	folder := buildTypeScript(svc)
	scene := filepath.Join(folder, demo.Filename)
	if err := os.WriteFile(scene, demo.Scene(), 0o600); err != nil {
		t.Fatal(err)
	}
	var output struct {
		JobID        string   `json:"job_id"`
		Status       string   `json:"status"`
		PriceCents   int      `json:"price_cents"`
		ChargedCents int      `json:"charged_cents"`
		FramesHeard  int      `json:"frames_heard"`
		Downloaded   string   `json:"downloaded"`
		Promised     []string `json:"promised"`
		Frames       []int    `json:"frames"`
		Refusals     []string `json:"refusals"`
	}
	text := node(t, folder, []string{"SVC_URL=" + svc.URL, "SVC_KEY=" + c.Agent.Secret, "SVC_SCENE=" + scene}, "job.js")
	if err := json.Unmarshal(text, &output); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if output.Status != "completed" || output.PriceCents != 2 || output.ChargedCents != 2 || output.FramesHeard != 2 || !slices.Equal(output.Frames, []int{1, 2}) {
		t.Errorf("the program says %+v", output)
	}
	if !slices.Equal(output.Refusals, []string{"legal_acceptance_required", "render_not_found"}) {
		t.Errorf("it was refused with %v", output.Refusals)
	}
	for _, promised := range output.Promised {
		if promised != output.Downloaded || len(promised) != 64 {
			t.Errorf("it downloaded %s and was promised %s", output.Downloaded, promised)
		}
	}
	if len(svc.Frames(output.JobID)) != 2 {
		t.Errorf("the job %q is not kept", output.JobID)
	}
	svc.SettledOnce(c, 2)
}

// buildTypeScript compiles testdata/typescript against the document that the service
// serves, and returns the folder.
func buildTypeScript(svc *story.Service) (folder string) {
	svc.T.Helper()
	folder = besidePackages(svc.T, os.DirFS("testdata/typescript"))
	document := story.Get(svc.T, http.MethodGet, svc.URL+"/openapi.json", nil).Body
	if err := os.WriteFile(filepath.Join(folder, "openapi.json"), document, 0o600); err != nil {
		svc.T.Fatal(err)
	}
	// What has a default may be left out of a request.
	node(svc.T, folder, nil, "node_modules/openapi-typescript/bin/cli.js", "openapi.json", "--default-non-nullable=false", "-o", "schema.d.ts")
	node(svc.T, folder, nil, "node_modules/typescript/bin/tsc", "-p", ".")
	return folder
}

// besidePackages gives a folder of these files, from which the npm packages are
// found.
func besidePackages(t *testing.T, files fs.FS) (folder string) {
	t.Helper()
	folder = t.TempDir()
	packages, err := filepath.Abs(npmFolder)
	for _, err := range []error{err, os.CopyFS(folder, files), os.Symlink(packages, filepath.Join(folder, "node_modules"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// pinnedNode is the path of the Node that the npm packages pin.
func pinnedNode(t *testing.T) string {
	t.Helper()
	program, err := filepath.Abs(filepath.Join(npmFolder, ".bin", "node"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("the pinned npm packages are not there: run scripts/install-npm (%v)", err)
	}
	return program
}

// node runs a script with the pinned Node and returns what it prints.
func node(t *testing.T, folder string, env []string, script string, arguments ...string) []byte {
	t.Helper()
	command := exec.CommandContext(story.Patient(t), pinnedNode(t), append([]string{script}, arguments...)...)
	command.Dir, command.Env = folder, append(os.Environ(), env...)
	var output bytes.Buffer
	command.Stderr = &output
	text, err := command.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", script, err, text, &output)
	}
	return text
}
