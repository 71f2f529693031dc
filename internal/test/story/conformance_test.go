package story_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"svc.example/clients/conformance"
	"svc.example/internal/ground/demo"
)

// conforming are the clients that the suite is told about, by their name in docs/sdk.md.
func conforming(t *testing.T) map[string]conformance.Client {
	t.Helper()
	program := filepath.Join(t.TempDir(), "goclient")
	if output, err := exec.CommandContext(patient(t), "go", "build", "-o", program, "svc.example/clients/conformance/goclient").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return map[string]conformance.Client{
		"Go":         {Command: []string{program}},
		"Python":     {Folder: pythonSDK.folder, Command: []string{"python3", "-W", "error", "tests/conformance.py"}, Env: []string{"PYTHONPATH=.", "PYTHONDONTWRITEBYTECODE=1"}},
		"TypeScript": {Folder: typescriptSDK.folder, Command: []string{pinnedNode(t), "tests/conformance.mjs"}},
	}
}

// TestEveryClientConforms tells each client each story, and holds the outcome against the
// table of docs/sdk.md.
func TestEveryClientConforms(t *testing.T) {
	t.Parallel()
	svc := sharedOn(t, "sqlite")
	stories, err := conformance.Stories()
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../../docs/sdk.md")
	if err != nil {
		t.Fatal(err)
	}
	clients := conforming(t)
	table := conformance.Table([]string{"Go", "Python", "TypeScript"}, stories, func(string, string) bool { return true })
	if !strings.Contains(string(page), table) {
		t.Errorf("docs/sdk.md does not have this table:\n%s", table)
	}
	for name, client := range clients {
		for _, story := range stories {
			t.Run(name+"/"+story.Name, func(t *testing.T) {
				t.Parallel()
				c := svc.caller(credit)
				target := conformance.Target{URL: svc.url, Key: c.agent.Secret, Scene: demo.Scene()}
				if err := conformance.Run(patient(t), client, story, target); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestAClientThatDoesWhatNoneMayIsSeen proves that a story can fail: a program that answers
// well, and calls nobody.
func TestAClientThatDoesWhatNoneMayIsSeen(t *testing.T) {
	t.Parallel()
	svc := sharedOn(t, "sqlite")
	c := svc.caller(credit)
	story := conformance.Story{Name: "a lost answer", Wire: []conformance.Rule{{On: "GET /v1/wallet", Faults: []string{"lose-answer"}}},
		Steps: []conformance.Step{{Verb: "wallet", Want: map[string]any{"available_cents": float64(credit)}}}}
	target := conformance.Target{URL: svc.url, Key: c.agent.Secret}
	for said, want := range map[string]string{
		fmt.Sprintf(`{"ok":{"available_cents":%d}}`, credit): "no call met [lose-answer]",
		`{"ok":{"available_cents":1}}`:                       "available_cents is 1",
		`{"error":{"kind":"api"}}`:                           "want the error map[]",
		`nonsense`:                                           "the client's answer",
	} {
		liar := conformance.Client{Command: []string{"sh", "-c", "read line; echo '" + said + "'"}}
		if err := conformance.Run(patient(t), liar, story, target); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", said, err, want)
		}
	}
}
