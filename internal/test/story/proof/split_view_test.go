package proof_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"svc.example/internal/app"
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/ground/signingkey/keyfile"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/await"
	"svc.example/internal/test/programs"
	"svc.example/internal/test/story"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/receipt/witness"
)

// signedBy is the configuration of a service whose key and log's name others have too.
func signedBy(t *testing.T, key string) app.Config {
	return app.Config{Listen: "127.0.0.1:0", Data: t.TempDir(), LogOrigin: "renders.example.com/log", SigningKey: key, Log: story.LogOf(t)}
}

// runCommand runs the command line and gives what it prints and its exit code.
func runCommand(t *testing.T, arguments ...string) (said string, code int) {
	t.Helper()
	command := exec.CommandContext(story.Patient(t), apptest.Binary(t), arguments...)
	text, err := command.CombinedOutput()
	if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed {
		t.Fatal(err)
	}
	return string(text), command.ProcessState.ExitCode()
}

// speaks starts a program that prints its key and its address, and ends with the test. Both
// of the program are given.
func speaks(t *testing.T, name string, arguments ...string) (key, address string) {
	t.Helper()
	command := exec.Command(name, arguments...)
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	command.Stderr = t.Output()
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = command.Process.Signal(os.Interrupt)
		_ = command.Wait()
	})
	lines := bufio.NewScanner(out)
	for address == "" && lines.Scan() {
		if text, is := strings.CutPrefix(lines.Text(), "key "); is {
			key = text
		}
		if text, is := strings.CutPrefix(lines.Text(), "listening on "); is {
			address = text
		}
	}
	if key == "" || address == "" {
		t.Fatalf("%s does not say its key and address: %v", name, lines.Err())
	}
	return key, address
}

// A service with one key shows two logs under one name: one to those who watch it, another
// to a caller, whose receipt is in that one.
func TestASplitViewIsCaughtByWatchAndByAWitness(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	key, err := signingkey.New(strings.NewReader(strings.Repeat("k", 32)))
	if err == nil {
		err = keyfile.Create(filepath.Join(folder, "key.pem"), key)
	}
	if err != nil {
		t.Fatal(err)
	}
	logKey, err := receipt.LogVerifier("renders.example.com/log", key.Public())
	if err != nil {
		t.Fatal(err)
	}
	cosigner, address := speaks(t, apptest.Binary(t), "log", "witness", "--name", "witness.example.org", "--log", logKey, "--data", filepath.Join(folder, "witness"), "--listen", "127.0.0.1:0")
	// The second log's service learns that the witness refuses it.
	refused := make(chan struct{})
	var once sync.Once
	at, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	between := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(at) }, ModifyResponse: func(r *http.Response) error {
		if r.StatusCode == http.StatusUnprocessableEntity {
			once.Do(func() { close(refused) })
		}
		return nil
	}}
	front := httptest.NewServer(between)
	t.Cleanup(front.Close)
	policy, err := witness.ParsePolicy("witness w " + cosigner + " " + front.URL + "\nquorum w\n")
	if err != nil {
		t.Fatal(err)
	}
	config := signedBy(t, filepath.Join(folder, "key.pem"))
	config.Witnesses = &policy
	shown := story.Start(t, config)
	c := shown.Caller(story.Credit)
	first := shown.Completed(c)
	await.Until(t, "the witness signs the first log", func() bool { return receipt.Signatures(c.Proven(first).Proof.Checkpoint) == 2 })
	config.Data = t.TempDir()
	secret := story.Start(t, config)
	d := secret.Caller(story.Credit)
	secret.Completed(d)
	cheated := secret.Completed(d)
	await.Next(t, refused, "the witness refuses the second log")

	// The common address leads to either.
	var lies atomic.Bool
	liar := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to := shown.URL
		if lies.Load() {
			to = secret.URL
		}
		target, _ := url.Parse(to)
		httputil.NewSingleHostReverseProxy(target).ServeHTTP(w, r)
	}))
	t.Cleanup(liar.Close)
	state := filepath.Join(folder, "state")
	watch := func(more ...string) (string, int) {
		t.Helper()
		return runCommand(t, slices.Concat([]string{"log", "watch", liar.URL, "--state", state}, more)...)
	}
	if said, code := watch("--witness", cosigner); code != 0 || !strings.Contains(said, "size 1, remembered") {
		t.Errorf("the first look: %d %s", code, said)
	}
	shown.Completed(c)
	if said, code := watch(); code != 0 || !strings.Contains(said, "size 2, continues the 1 of the last run") {
		t.Errorf("the log has grown: %d %s", code, said)
	}
	remembered, err := os.ReadFile(state)
	if err != nil {
		t.Fatal(err)
	}
	lies.Store(true)
	if said, code := watch(); code != 5 || !strings.Contains(said, "two histories") {
		t.Errorf("the other log: %d %s", code, said)
	}
	if said, code := watch("--witness", cosigner); code != 5 {
		t.Errorf("the other log, with a witness: %d %s", code, said)
	}
	lies.Store(false)
	if now, err := os.ReadFile(state); err != nil || string(now) != string(remembered) {
		t.Errorf("the alarm changed what is remembered: %v", err)
	}
	alarms, err := filepath.Glob(state + ".alarm-*")
	if err != nil || len(alarms) != 2 {
		t.Fatalf("the other checkpoint is not kept: %v, %v", alarms, err)
	}
	if kept, err := os.ReadFile(alarms[0]); err != nil || !strings.HasPrefix(string(kept), "renders.example.com/log\n2\n") {
		t.Errorf("the other checkpoint: %s, %v", kept, err)
	}
	if said, code := watch(); code != 0 {
		t.Errorf("the first log again: %d %s", code, said)
	}
	// A person who was shown the other log and reports it to a watcher is believed by
	// both.
	if said, code := watch("--also", alarms[0]); code != 5 || !strings.Contains(said, "two histories") {
		t.Errorf("a checkpoint that a caller was given: %d %s", code, said)
	}

	// A caller that asks for the witness finds out alone.
	verify := func(p story.Proven) (string, int) {
		t.Helper()
		folder := t.TempDir()
		for name, value := range map[string]any{"receipt.json": p.Receipt.Envelope, "proof.json": p.Proof, "keys.json": map[string]any{"keys": p.Keys}} {
			text, err := json.Marshal(value)
			if err == nil {
				err = os.WriteFile(filepath.Join(folder, name), text, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		return runCommand(t, "verify", filepath.Join(folder, "receipt.json"), "--keys", filepath.Join(folder, "keys.json"), "--witness", cosigner, "--require", "log,key,witness")
	}
	if said, code := verify(c.Proven(first)); code != 0 || !strings.Contains(said, "co-signed by witness.example.org at 20") {
		t.Errorf("a receipt of the witnessed log: %d %s", code, said)
	}
	if said, code := verify(d.Proven(cheated)); code != 5 || !strings.Contains(said, "not co-signed by the witness witness.example.org") {
		t.Errorf("a receipt of the other log: %d %s", code, said)
	}
}

// tools/witness is a program around github.com/transparency-dev/witness.
func TestWitnessesOfOthersUnderstandOursAndWeThem(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	theirs := programs.Path(t, programs.Witness)
	// Their client gives checkpoints of a log to our witness.
	logKey, err := exec.CommandContext(story.Patient(t), theirs, "key", filepath.Join(folder, "log.key")).Output()
	if err != nil {
		t.Fatal(err)
	}
	ours, address := speaks(t, apptest.Binary(t), "log", "witness", "--name", "ours.example.org", "--log", strings.TrimSpace(string(logKey)), "--data", filepath.Join(folder, "witness"), "--listen", "127.0.0.1:0")
	said, err := exec.CommandContext(story.Patient(t), theirs, "feed", address, ours, filepath.Join(folder, "log.key")).CombinedOutput()
	if err != nil || !strings.Contains(string(said), "one that continues after all that: <nil>") {
		t.Errorf("%v: %s", err, said)
	}
	// Their witness signs the log of our service, found by svc log keys.
	svc := story.Start(t, app.Config{Listen: "127.0.0.1:0", Data: t.TempDir(), LogOrigin: "renders.example.com/log", Log: story.LogOf(t)})
	printed, code := runCommand(t, "log", "keys", svc.URL)
	if code != 0 || !strings.HasPrefix(printed, "renders.example.com/log+") {
		t.Fatalf("%d %s", code, printed)
	}
	their, at := speaks(t, theirs, "serve", strings.TrimSpace(printed))
	policy, err := witness.ParsePolicy("witness theirs " + their + " " + at + "\nquorum theirs\n")
	if err != nil {
		t.Fatal(err)
	}
	c := svc.Caller(story.Credit)
	svc.Completed(c)
	asker := &witness.Asker{Policy: policy, DB: svc.App.DB, Keys: svc.App.Keys, Client: http.DefaultClient, Log: story.LogOf(t)}
	for size := int64(1); size <= 3; size++ { // the later ones with a proof
		if err := asker.Round(context.Background()); err != nil {
			t.Fatal(err)
		}
		if last := asker.Latest(); last == nil || last.Size != size {
			t.Fatalf("their witness does not sign the log at size %d: %+v", size, last)
		}
		svc.Completed(c)
	}
}
