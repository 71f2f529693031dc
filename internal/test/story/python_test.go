package story_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"svc.example/internal/app"
	"svc.example/internal/ground/demo"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/worker"
)

// pythonSDK is the folder of the Python SDK.
const pythonSDK = "../../../sdk/python"

// python runs a script of the SDK's tests, and reads the JSON that it prints into told.
func python(t *testing.T, told any, script string, arguments ...string) {
	t.Helper()
	command := exec.CommandContext(patient(t), "python3", append([]string{"-W", "error", script}, arguments...)...)
	command.Dir = pythonSDK
	command.Env = append(os.Environ(), "PYTHONPATH=.", "PYTHONDONTWRITEBYTECODE=1")
	var complaint bytes.Buffer
	command.Stderr = &complaint
	text, err := command.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, &complaint)
	}
	if err := json.Unmarshal(text, told); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, text)
	}
}

// TestThePythonSDKPassesItsUnitTests runs what needs no service: the standards' vectors,
// what a server can send wrongly, and the wheel.
func TestThePythonSDKPassesItsUnitTests(t *testing.T) {
	t.Parallel()
	command := exec.CommandContext(patient(t), "python3", "-W", "error", "-m", "unittest", "discover", "-s", "tests")
	command.Dir = pythonSDK
	command.Env = append(os.Environ(), "PYTHONPATH=.", "PYTHONDONTWRITEBYTECODE=1")
	if output, err := command.CombinedOutput(); err != nil || !strings.HasSuffix(strings.TrimSpace(string(output)), "OK") || strings.Contains(string(output), "Ran 0 tests") {
		t.Errorf("%v\n%s", err, output)
	}
}

// TestThePythonSDKKeepsItsTypes has another person's checker read every type of the package.
func TestThePythonSDKKeepsItsTypes(t *testing.T) {
	t.Parallel()
	command := exec.CommandContext(patient(t), "mypy", "--strict", "--cache-dir", t.TempDir(), "svc_render")
	command.Dir = pythonSDK
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v (scripts/install-tools python installs mypy)\n%s", err, output)
	}
}

func TestThePythonSDKRendersOverABadNetworkAndPaysOnce(t *testing.T) {
	eachShared(t, func(t *testing.T, svc *service) {
		c := svc.caller(credit)
		wire := startBadWire(t, svc.url,
			wireRule{"POST", "/uploads/inspect", []wireFault{cutUpload(1000), answerWith(503, ""), loseTheAnswer}},
			wireRule{"POST", "/preview", []wireFault{loseTheAnswer}},
			wireRule{"POST", "/start", []wireFault{loseTheAnswer, answerWith(429, "7")}},
			wireRule{"GET", "/events", []wireFault{cutAnswer(900), fromTheBeginning}},
			wireRule{"GET", "/download", []wireFault{answerWith(502, "")}},
			wireRule{"GET", "/receipt", []wireFault{cutAnswer(100)}},
			// The first download is damaged, the second is cut and goes on where it was.
			wireRule{"GET", "/artifacts/", []wireFault{damageAnswer, cutAnswer(2000)}},
		)
		scene := filepath.Join(t.TempDir(), demo.Filename)
		if err := os.WriteFile(scene, demo.Scene(), 0o600); err != nil {
			t.Fatal(err)
		}
		var told struct {
			PriceCents     int               `json:"price_cents"`
			Uploaded       bool              `json:"uploaded"`
			Look           []any             `json:"look"`
			FramesOfTwo    int               `json:"frames_of_two"`
			JobID          string            `json:"job_id"`
			Again          string            `json:"again"`
			Frames         []int             `json:"frames"`
			Status         string            `json:"status"`
			ChargedCents   int               `json:"charged_cents"`
			Damaged        string            `json:"damaged"`
			SizeBytes      int64             `json:"size_bytes"`
			Left           []string          `json:"left"`
			Checks         map[string]string `json:"checks"`
			Lie            string            `json:"lie"`
			Refused        [][]any           `json:"refused"`
			AvailableCents int               `json:"available_cents"`
			Jobs           []string          `json:"jobs"`
			Kinds          []string          `json:"kinds"`
			LongestWait    float64           `json:"longest_wait"`
			Retried        []string          `json:"retried"`
			Twin           []any             `json:"twin"`
		}
		python(t, &told, "tests/story.py", wire.url, c.agent.Secret, c.account.Secret, scene, t.TempDir())

		if unmet := wire.unmet(); len(unmet) > 0 {
			t.Errorf("faults that no call met: %v", unmet)
		}
		if told.PriceCents != 4 || !told.Uploaded || told.FramesOfTwo != 2 || told.Status != "completed" || told.ChargedCents != 4 {
			t.Errorf("it tells %+v", told)
		}
		if got := fmt.Sprint(told.Look); got != "[ready 2 ffd8]" { // a JPEG begins so
			t.Errorf("the free look is %s", got)
		}
		slices.Sort(told.Frames)
		if !slices.Equal(told.Frames, []int{1, 2, 3, 4}) {
			t.Errorf("it heard of the frames %v, want each once", told.Frames)
		}
		if told.Again != told.JobID || len(told.Jobs) != 1 || told.Jobs[0] != told.JobID {
			t.Errorf("the jobs are %s, %s and %v, want one", told.JobID, told.Again, told.Jobs)
		}
		if told.Damaged != "refused" || len(told.Left) > 0 {
			t.Errorf("the damaged download: %s, with %v left", told.Damaged, told.Left)
		}
		for _, check := range []string{"signature", "statement", "members", "artifact", "contents", "frames", "manifest", "log", "key"} {
			if told.Checks[check] != "ok" {
				t.Errorf("the check %s is %q: %v", check, told.Checks[check], told.Checks)
			}
		}
		if told.Lie != "members" {
			t.Errorf("the lying receipt fails at %q", told.Lie)
		}
		if got := fmt.Sprint(told.Refused); got != "[[render_not_found 404 true] [legal_acceptance_required 400 true] [invalid_frame_range 400 true] [unauthenticated 401 true]]" {
			t.Errorf("it was refused with %s", got)
		}
		if told.LongestWait < 7 {
			t.Errorf("it waited %g s at most, though it was told 7", told.LongestWait)
		}
		if !slices.Equal(told.Kinds, []string{"capture", "reserve", "credit"}) || told.AvailableCents != credit-4 {
			t.Errorf("the ledger says %v, %d cents are left", told.Kinds, told.AvailableCents)
		}
		if fmt.Sprint(told.Twin) != fmt.Sprint([]any{"job", credit - 4}) {
			t.Errorf("the asynchronous twin tells %v", told.Twin)
		}
		wire.wantOneKey(t)
		svc.settledOnce(c, 4)
	})
}

// wantOneKey checks that the tries of the first start carried one idempotency key, that calls
// say who makes them, and that signed links were never sent the key.
func (b *badWire) wantOneKey(t *testing.T) {
	t.Helper()
	starts := b.to("POST", "/start")
	keys := map[string]bool{}
	for _, r := range starts[:min(3, len(starts))] {
		keys[r.Header.Get("Idempotency-Key")] = true
	}
	if len(starts) < 4 || len(keys) != 1 || keys[""] {
		t.Errorf("%d starts, the first three with the keys %v", len(starts), slices.Collect(maps.Keys(keys)))
	}
	ranged := false
	for _, r := range b.to("GET", "/artifacts/") {
		if r.Header.Get("Authorization") != "" {
			t.Error("the key went to a signed link")
		}
		ranged = ranged || r.Header.Get("Range") != ""
	}
	for _, r := range b.to("GET", "") {
		if agent := r.Header.Get("User-Agent"); !strings.Contains(agent, "svc-render-python/") {
			t.Errorf("a call says that it is by %q", agent)
		}
	}
	if !ranged {
		t.Error("the cut download began anew")
	}
}

func TestThePythonSDKSendsOnlyWhatTheServiceLacksOfAProject(t *testing.T) {
	eachShared(t, func(t *testing.T, svc *service) {
		c := svc.caller(credit)
		root := t.TempDir()
		notes := []byte("not in the scene, but of the project")
		for name, content := range map[string][]byte{"film/scene ä.blend": demo.Scene(), "notes.txt": notes, "empty.txt": nil} {
			path := filepath.Join(root, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var told struct {
			Sent       []int  `json:"sent"`
			FrameCount int    `json:"frame_count"`
			Filename   string `json:"filename"`
		}
		python(t, &told, "tests/project.py", svc.url, c.agent.Secret, root, "film/scene ä.blend")
		if all := len(demo.Scene()) + len(notes); !slices.Equal(told.Sent, []int{all, 0, len(notes) + len("more")}) || told.FrameCount != 1 {
			t.Errorf("it tells %+v, want %d bytes, none, and the changed file", told, all)
		}
	})
}

// TestAProgramInPythonRendersInBlenderAndVerifies runs the ten lines of the README.
func TestAProgramInPythonRendersInBlenderAndVerifies(t *testing.T) {
	t.Parallel()
	svc := start(t, app.Config{Listen: "127.0.0.1:0", Data: t.TempDir(), Database: dbtest.URL(t, "sqlite"), Log: logOf(t)})
	svc.worker(worker.Blender{Path: realBlender(t)}, onCPU)
	c := svc.caller(credit)
	folder := t.TempDir()
	scene, err := quickScene()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "scene.blend"), scene, 0o600); err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(filepath.Join(pythonSDK, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(readme), "```python\n")
	code, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("the README has no program")
	}
	sdk, err := filepath.Abs(pythonSDK)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(patient(t), "python3", "-W", "error", "-c", code)
	command.Dir = folder
	command.Env = append(os.Environ(), "PYTHONPATH="+sdk, "PYTHONDONTWRITEBYTECODE=1", "SVC_SERVER="+svc.url, "SVC_KEY="+c.agent.Secret)
	output, err := command.CombinedOutput()
	if err != nil || !strings.Contains(string(output), "2 frames, 2 cents") || !strings.Contains(string(output), "verified") {
		t.Fatalf("%v\n%s", err, output)
	}
	svc.settledOnce(c, 2)
}
