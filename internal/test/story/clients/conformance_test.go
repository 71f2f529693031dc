package clients_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"svc.example/addons/blender"
	"svc.example/clients/conformance"
	"svc.example/internal/ground/demo"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/programs"
	"svc.example/internal/test/story"
)

// conforming are the clients that the suite knows, in the order of docs/conformance.md.
func conforming(t *testing.T) []conformance.Client {
	t.Helper()
	module := addOnModule(t)
	python := []string{"python3", "-W", "error", "tests/conformance.py"}
	return []conformance.Client{
		{Name: "Go", Command: []string{programs.Path(t, programs.GoClient)}},
		{Name: "Python", Folder: pythonSDK.folder, Command: python, Env: []string{"PYTHONPATH=.", "PYTHONDONTWRITEBYTECODE=1"}},
		{Name: "TypeScript", Folder: typescriptSDK.folder, Command: []string{pinnedNode(t), "tests/conformance.mjs"}},
		{Name: "TypeScript in Deno", Folder: typescriptSDK.folder, Command: []string{deno(t), "run", "--quiet", "-A", "tests/conformance.mjs"},
			Env: []string{"DENO_DIR=" + t.TempDir(), "DENO_NO_UPDATE_CHECK=1"}},
		{Name: "add-on", Folder: story.AddOn, Command: python, Env: []string{"PYTHONPATH=" + module, "PYTHONDONTWRITEBYTECODE=1"}},
		{Name: "svc", Command: []string{programs.Path(t, programs.CommandClient)}, Env: []string{"SVC_PROGRAM=" + apptest.Binary(t), "XDG_CONFIG_HOME=" + t.TempDir()}},
	}
}

// addOnModule is the built add-on, from which Python imports as it is.
func addOnModule(t *testing.T) string {
	t.Helper()
	packages, err := blender.Packages("1.2.3", "")
	if err != nil {
		t.Fatal(err)
	}
	module := filepath.Join(t.TempDir(), "addon.zip")
	for _, p := range packages {
		if strings.HasSuffix(p.Name, "-legacy.zip") {
			err = os.WriteFile(module, p.Bytes, 0o600)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return module
}

// TestTheAddOnKeepsItsRules runs the tests of the add-on's own rules, for which no Blender is
// needed.
func TestTheAddOnKeepsItsRules(t *testing.T) {
	t.Parallel()
	module := addOnModule(t)
	for _, file := range []string{"tests/test_project.py", "tests/test_frames.py"} {
		command := exec.CommandContext(story.Patient(t), "python3", "-W", "error", file)
		command.Dir = story.AddOn
		command.Env = append(os.Environ(), "PYTHONPATH="+module, "PYTHONDONTWRITEBYTECODE=1")
		if output, err := command.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", file, err, output)
		}
	}
}

// deno is the program that the npm packages pin for this machine.
func deno(t *testing.T) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(npmFolder, "@deno", "*", "deno"))
	if err != nil || len(found) != 1 {
		t.Fatalf("the pinned npm packages have no Deno for this machine: run scripts/install-npm (%v, %v)", found, err)
	}
	program, err := filepath.Abs(found[0])
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// TestEveryClientConforms plays each story with each client. The table of docs/conformance.md is what
// came of it: a client that says that it cannot do a story has a no there.
func TestEveryClientConforms(t *testing.T) {
	t.Parallel()
	svc := story.SharedOn(t, "sqlite")
	stories, err := conformance.Stories()
	if err != nil {
		t.Fatal(err)
	}
	clients := conforming(t)
	var mu sync.Mutex
	cannot := map[string]bool{}
	told := t.Run("told", func(t *testing.T) {
		for _, client := range clients {
			for _, scenario := range stories {
				t.Run(client.Name+"/"+scenario.Name, func(t *testing.T) {
					t.Parallel()
					c := svc.Caller(story.Credit)
					target := conformance.Target{URL: svc.URL, Key: c.Agent.Secret, Scene: demo.Scene()}
					err := conformance.Run(story.Patient(t), client, scenario, target)
					if errors.Is(err, conformance.ErrUnsupported) {
						mu.Lock()
						defer mu.Unlock()
						cannot[client.Name+scenario.Name] = true
					} else if err != nil {
						t.Error(err)
					}
				})
			}
		}
	})
	if !told {
		return // a story that fails is no reason to change the page
	}
	var names []string
	for _, client := range clients {
		names = append(names, client.Name)
	}
	page, err := os.ReadFile("../../../../docs/conformance.md")
	if err != nil {
		t.Fatal(err)
	}
	table := conformance.Table(names, stories, func(client, scenario string) bool { return !cannot[client+scenario] })
	if !strings.Contains(string(page), table) {
		t.Errorf("docs/conformance.md does not have this table:\n%s", table)
	}
}

// TestAClientThatDoesWhatNoneMayIsSeen proves that a story can fail: a program that answers
// well, but makes no call.
func TestAClientThatDoesWhatNoneMayIsSeen(t *testing.T) {
	t.Parallel()
	svc := story.SharedOn(t, "sqlite")
	c := svc.Caller(story.Credit)
	scenario := conformance.Story{Name: "a lost answer", Wire: []conformance.Rule{{On: "GET /v1/wallet", Faults: []string{"lose-answer"}}},
		Steps: []conformance.Step{{Verb: "wallet", Want: map[string]any{"available_cents": float64(story.Credit)}}}}
	target := conformance.Target{URL: svc.URL, Key: c.Agent.Secret}
	for said, want := range map[string]string{
		fmt.Sprintf(`{"ok":{"available_cents":%d}}`, story.Credit): "no call met [lose-answer]",
		`{"ok":{"available_cents":1}}`:                             "available_cents is 1",
		`{"error":{"kind":"api"}}`:                                 "want the error map[]",
		`nonsense`:                                                 "the client's answer",
	} {
		liar := conformance.Client{Command: []string{"sh", "-c", "read line; echo '" + said + "'"}}
		if err := conformance.Run(story.Patient(t), liar, scenario, target); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", said, err, want)
		}
	}
}
