package browser_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/plaintext"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/story"
	"svc.example/internal/work/farmapi"
)

// hostile is what a stranger writes where a name belongs: a terminal's title, a turn of
// the direction, a line that looks like one of ours, a byte that begins an escape alone,
// a character that a string of JSON must write in two halves.
const hostile = "a\x1b]0;owned\a\u202egnp\u2066\nsvc: verified\r\u200b\u009b31m\x7f\U000e0041"

// hostileScene is the demo scene under that name.
func hostileScene(t *testing.T) []byte {
	t.Helper()
	scene := apptest.PlainScene(t)
	at := bytes.Index(scene, []byte("SCDemo\x00"))
	if at < 0 {
		t.Fatal("the scene's name is not where it was")
	}
	copy(scene[at+2:], hostile+"\x00")
	return scene
}

// wantShown checks that a text shows what a stranger wrote, and only as escapes. Logs
// and pages keep line ends.
func wantShown(t *testing.T, outlet, text string) {
	t.Helper()
	hidden := func(r rune) bool { return plaintext.Hidden(r) && r != '\n' && r != '\t' }
	if i := strings.IndexFunc(text, hidden); i >= 0 {
		t.Errorf("%s lets through %q", outlet, text[i:min(len(text), i+40)])
	}
	if !strings.Contains(text, `\u202e`) {
		t.Errorf("%s does not show it: %q", outlet, text[:min(len(text), 2000)])
	}
}

// locked is a buffer that several goroutines write.
type locked struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *locked) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func TestTextOfStrangersIsShownEscaped(t *testing.T) {
	t.Parallel()
	var log locked
	svc := story.Start(t, app.Config{Listen: "127.0.0.1:0", Data: t.TempDir(), Log: slog.New(slog.NewTextHandler(apptest.LogWriter(t, &log), nil))})
	c := svc.Caller(story.Credit)

	q := c.QuoteOf(hostileScene(t), 1)
	if want := strings.ToValidUTF8(hostile, ""); q.Scene.Name != want {
		t.Errorf("the wire says the scene is %q, want the true name", q.Scene.Name)
	}
	w := story.ManualWorker{Client: farmapi.NewClient(svc.URL, svc.NodeKey().Secret)}
	registered, err := w.Register(t.Context(), farmapi.RegisterRequest{
		Name: hostile, BlenderVersion: "4.1.1" + hostile, BlenderBuildHash: hostile, Device: "GPU", DeviceName: hostile, Denoise: hostile, Sandbox: hostile,
	})
	if err != nil {
		t.Fatal(err)
	}
	w.ID = registered.WorkerID
	job, err := c.Take(q)
	if err != nil {
		t.Fatal(err)
	}
	got, err := w.LeaseOne(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	result, picture := w.Result(t, got)
	result.DeviceName, result.BlenderVersion, result.BlenderBuildHash, result.Log = hostile, hostile, hostile, "first\n"+hostile+"\n== frame 7: forged\n"
	if err := w.Deliver(t.Context(), result, bytes.NewReader(picture)); err != nil {
		t.Fatal(err)
	}
	done := c.Await(job.JobID, client.StatusCompleted)
	failed := c.StartFrames(1)
	if got, err = w.LeaseOne(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := w.Fail(t.Context(), farmapi.FailRequest{
		WorkerID: w.ID, LeaseID: got.Leases[0].LeaseID, Attempt: got.Leases[0].Attempt, Code: "blender_crashed", Message: hostile, Log: hostile, Final: true,
	}); err != nil {
		t.Fatal(err)
	}
	c.Await(failed.JobID, client.StatusFailed)

	for name, text := range c.Texts(done.JobID) {
		if name == "render-log.txt" {
			wantShown(t, name, text)
			if strings.Contains(text, "\n== frame 7") {
				t.Error("the log has a heading of a stranger")
			}
		}
	}
	for _, job := range []string{done.JobID, failed.JobID} {
		wantShown(t, "the job's log", string(story.Get(t, http.MethodGet, svc.URL+"/v1/renders/"+job+"/log", http.Header{"Authorization": {"Bearer " + c.Account.Secret}}).Body))
	}
	receipt, err := c.Receipt(t.Context(), done.JobID)
	if err != nil {
		t.Fatal(err)
	}
	var signed struct {
		ReceiptID string `json:"receipt_id"`
	}
	if err := json.Unmarshal(receipt.Members, &signed); err != nil {
		t.Fatal(err)
	}
	page := svc.URL + "/proof/" + signed.ReceiptID
	tab := story.Browse(t)
	if state, words := verdict(tab, t, page); state != "verified" {
		t.Errorf("the proof page says %s: %s", state, words)
	}
	wantShown(t, "the proof page", story.Look[string](tab, t, "document.title + document.body.innerText"))
	commandsShow(svc, c, done.JobID, failed.JobID)
	wantShown(t, "the service's log", log.String())
}

// commandsShow runs every command that prints what a file or a worker says.
func commandsShow(svc *story.Service, c story.Caller, done, failed string) {
	t := svc.T
	scene := filepath.Join(t.TempDir(), "a\x1b[2J\u202e\n.blend")
	if err := os.WriteFile(scene, hostileScene(t), 0o600); err != nil {
		t.Fatal(err)
	}
	sent := filepath.Join(t.TempDir(), "a\u202e\n.blend") // no multipart form takes the name above
	if err := os.Link(scene, sent); err != nil {
		t.Fatal(err)
	}
	damaged := filepath.Join(t.TempDir(), "a\x1b[2J\u202e.blend")
	if err := os.WriteFile(damaged, []byte("BLENDER-v304REND\x1b\u202e"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, arguments := range [][]string{
		{"inspect", scene},
		{"inspect", "--json", scene},
		{"inspect", damaged},
		{"render", "--server", svc.URL, "--key", c.Agent.Secret, sent}, // the price, and then it asks
		{"render", "--server", svc.URL, "--key", c.Agent.Secret, "--job", done, "--out", t.TempDir()},
		{"render", "--server", svc.URL, "--key", c.Agent.Secret, "--json", "--job", done, "--out", t.TempDir()},
		{"render", "--server", svc.URL, "--key", c.Agent.Secret, "--job", failed},
		{"admin", "worker", "list", "--data", svc.Config.Data},
		{"admin", "worker", "list", "--json", "--data", svc.Config.Data},
	} {
		command := exec.CommandContext(t.Context(), apptest.Binary(t), arguments...)
		said, _ := command.CombinedOutput() // some of them fail, and say why
		wantShown(t, "svc "+strings.Join(arguments[:2], " "), string(said))
		if strings.Contains(string(said), "\nsvc: verified") {
			t.Errorf("%v prints a line of a stranger:\n%s", arguments, said)
		}
	}
}
