//go:build generators

package clients_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"svc.example/internal/ground/demo"
	"svc.example/internal/test/story"
)

// generators is the folder of the tools that `make generators` installs: the npm packages
// and the module of the Go tools of tools/openapi.
const generators = "../../../../.tools/openapi"

// TestEveryGeneratedClientRendersAJob makes clients of the served document with generators
// as they are, without settings that svc would need, compiles them strictly, and renders a
// job with each. The one of openapi-typescript has a story of its own
// (TestATypeScriptClientMadeFromTheDocumentRendersAJob).
func TestEveryGeneratedClientRendersAJob(t *testing.T) {
	t.Parallel()
	svc := story.SharedOn(t, "sqlite")
	folder, err := filepath.Abs(generators)
	if err != nil {
		t.Fatal(err)
	}
	deno, err := filepath.Abs(filepath.Join(npmFolder, ".bin", "deno"))
	if err != nil {
		t.Fatal(err)
	}
	if err := copyOver(folder, "testdata/generators"); err != nil {
		t.Fatal(err)
	}
	document := story.Get(t, http.MethodGet, svc.URL+"/openapi.json", nil).Body
	scene := filepath.Join(t.TempDir(), demo.Filename)
	for name, content := range map[string][]byte{
		filepath.Join(folder, "openapi.json"): document, scene: demo.Scene(),
		filepath.Join(folder, "orval.config.mjs"): []byte(`export default { svc: { input: "./openapi.json", output: { target: "./orval/svc.ts", client: "fetch", baseUrl: "` + svc.URL + `" } } }`),
	} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(env []string, name string, arguments ...string) string {
		t.Helper()
		command := exec.CommandContext(story.Patient(t), name, arguments...)
		command.Dir, command.Env = folder, append(os.Environ(), env...)
		text, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%.4000s", name, strings.Join(arguments, " "), err, text)
		}
		return strings.TrimSpace(string(text))
	}
	run(nil, "go", "tool", "ogen", "--target", "og", "--package", "og", "--clean", "openapi.json")
	if err := os.MkdirAll(filepath.Join(folder, "oa"), 0o700); err != nil {
		t.Fatal(err)
	}
	run(nil, "go", "tool", "oapi-codegen", "-package", "oa", "-generate", "types,client", "-o", "oa/oa.go", "openapi.json")
	run(nil, "node_modules/.bin/orval", "--config", "orval.config.mjs")
	run(nil, "node_modules/.bin/openapi-ts", "-i", "openapi.json", "-o", "hey", "-c", "@hey-api/client-fetch")
	run(nil, "node_modules/.bin/tsc", "-p", ".")
	for client, command := range map[string][]string{
		"ogen":         {"go", "run", "./ogenclient"},
		"oapi-codegen": {"go", "run", "./oapiclient"},
		"orval":        {deno, "run", "--no-check", "--sloppy-imports", "--allow-all", "orval.ts"},
		"hey-api":      {deno, "run", "--no-check", "--sloppy-imports", "--allow-all", "hey.ts"},
	} {
		t.Run(client, func(t *testing.T) {
			c := svc.Caller(story.Credit)
			text := run([]string{"SVC_URL=" + svc.URL, "SVC_KEY=" + c.Agent.Secret, "SVC_SCENE=" + scene}, command[0], command[1:]...)
			if !strings.HasPrefix(text, "JOB-") || !strings.HasSuffix(text, " completed") {
				t.Errorf("the program says %s", text)
			}
			svc.SettledOnce(c, 2)
		})
	}
}

// copyOver copies a folder's files over those of another.
func copyOver(to, from string) error {
	return filepath.WalkDir(from, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		at := filepath.Join(to, strings.TrimPrefix(path, from))
		if entry.IsDir() {
			return os.MkdirAll(at, 0o700)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(at, text, 0o600)
	})
}
