package proof_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/story"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/receipt"
)

func TestEveryCompletedJobIsProvenByTheLogOverRotatedKeys(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		config.LogOrigin = "renders.example.com/log"
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		first := svc.Completed(c)
		before := c.Proven(first)
		next, err := svc.App.Keys.Make(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		svc.Write(func(ctx context.Context, tx *db.Tx) error {
			return svc.App.Keys.Rotate(ctx, tx, next, time.Hour, receipt.Superseded)
		})
		second := svc.Completed(c)
		for i, job := range []*client.Job{first, second} {
			p := c.Proven(job)
			checks, err := client.VerifyLog(p.Receipt, p.Proof, p.Keys, nil)
			if err != nil || p.Proof.LogIndex != int64(i) {
				t.Errorf("job %d is leaf %d: %v, %v", i, p.Proof.LogIndex, err, checks)
			}
			if !strings.HasPrefix(p.Proof.Checkpoint, "renders.example.com/log\n2\n") || len(p.Keys) != 2 || p.Keys[0].KeyID != next.Public().ID() {
				t.Errorf("checkpoint %q, keys %+v", p.Proof.Checkpoint, p.Keys)
			}
		}
		// A client with only the old key still trusts the old receipt and its old
		// proof.
		if _, err := client.VerifyLog(before.Receipt, before.Proof, before.Keys, []byte(before.Proof.Checkpoint)); err != nil {
			t.Error(err)
		}
		after := c.Proven(second)
		if _, err := client.VerifyLog(after.Receipt, after.Proof, before.Keys, nil); !errors.Is(err, client.ErrBadSignature) {
			t.Errorf("a receipt of an unknown key: %v", err)
		}
	})
}

func TestTheLogIsServedForCachesAndStrangers(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		p := c.Proven(svc.Completed(c))
		entry, err := receipt.EntryOf(p.Receipt.Envelope)
		if err != nil {
			t.Fatal(err)
		}
		checkpoint := story.Get(t, http.MethodGet, svc.URL+"/log/checkpoint", nil)
		if string(checkpoint.Body) != p.Proof.Checkpoint || checkpoint.Header.Get("Cache-Control") != "no-cache" || checkpoint.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
			t.Errorf("checkpoint %q, %v", checkpoint.Body, checkpoint.Header)
		}
		hash := entry.LeafHash()
		for path, want := range map[string][]byte{
			"entries/000.p/1": append([]byte{0, 32}, entry[:]...),
			"0/000.p/1":       hash[:],
		} {
			tile := story.Get(t, http.MethodGet, svc.URL+"/log/tile/"+path, nil)
			if !bytes.Equal(tile.Body, want) || !strings.Contains(tile.Header.Get("Cache-Control"), "immutable") || tile.Header.Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("tile %s: %x, %v", path, tile.Body, tile.Header)
			}
		}
		for _, none := range []string{"entries/000.p/2", "0/000", "1/000.p/1", "data/000.p/1", "x", "0/9999999"} {
			story.Get(t, http.MethodGet, svc.URL+"/log/tile/"+none, nil).Want(t, http.StatusNotFound, "route_not_found")
		}
	})
}

func TestAProofPageIsForAnybodyUntilItsOwnerSwitchesItOff(t *testing.T) {
	story.EachShared(t, func(t *testing.T, svc *story.Service) {
		c := svc.Caller(story.Credit)
		p := c.Proven(c.Completed())
		address := svc.URL + "/proof/" + p.Proof.ReceiptID
		var shown struct {
			Envelope json.RawMessage `json:"envelope"`
			receipt.Inclusion
			Keys []client.SigningKey `json:"keys"`
		}
		answered := story.Get(t, http.MethodGet, address, nil)
		if err := json.Unmarshal(answered.Body, &shown); err != nil || answered.Status != http.StatusOK {
			t.Fatalf("%d %s: %v", answered.Status, answered.Body, err)
		}
		entry, err := receipt.EntryOf(shown.Envelope)
		if err != nil {
			t.Fatal(err)
		}
		key, err := signingkey.ParsePublicPEM([]byte(shown.Keys[0].PublicKeyPEM))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := shown.Check(entry, []signingkey.Public{key}); err != nil {
			t.Error(err)
		}
		browser := http.Header{"Accept": {"text/html,*/*"}}
		page := story.Get(t, http.MethodGet, address, browser)
		page.Want(t, http.StatusOK, "<!doctype html>")
		if policy := page.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("policy %q", policy)
		}
		story.Get(t, http.MethodGet, svc.URL+"/proof/"+story.Flipped(p.Proof.ReceiptID), browser).Want(t, http.StatusNotFound, "receipt_not_found")
		for _, show := range []bool{false, true} {
			svc.Write(func(ctx context.Context, tx *db.Tx) error { return identity.SetProofPages(ctx, tx, c.Workspace, show) })
			status, code := http.StatusOK, "html"
			if !show {
				status, code = http.StatusNotFound, "receipt_not_found"
			}
			story.Get(t, http.MethodGet, address, browser).Want(t, status, code)
		}
	})
}

// TestOthersVerifyWithTheirOwnTools lets scripts/verify-outside, which shares
// nothing with svc, check what a caller keeps, and then each of it changed.
func TestOthersVerifyWithTheirOwnTools(t *testing.T) {
	t.Parallel()
	svc := story.Start(t, app.Config{Listen: "127.0.0.1:0", Data: t.TempDir(), Log: story.LogOf(t)})
	c := svc.Caller(story.Credit)
	svc.Completed(c)
	job := svc.Completed(c)
	p := c.Proven(job)
	outside := func(change string, flip func([]byte) []byte) (string, error) { return c.Outside(job, change, flip) }
	if output, err := outside("", nil); err != nil || !strings.Contains(output, "verified without svc") {
		t.Fatalf("%v: %s", err, output)
	}
	replace := func(old, other string) func([]byte) []byte {
		return func(content []byte) []byte {
			changed := bytes.Replace(content, []byte(old), []byte(other), 1)
			if bytes.Equal(changed, content) {
				t.Fatalf("there is no %q to change", old)
			}
			return changed
		}
	}
	stranger := receipt.Entry{9}.LeafHash().String()
	for name, c := range map[string]struct {
		file  string
		flip  func([]byte) []byte
		words string
	}{
		"receipt": {"receipt.json", func(b []byte) []byte {
			sig := b[bytes.Index(b, []byte(`"sig":"`))+len(`"sig":"`):]
			if sig[0]++; sig[0] == 'Z'+1 || sig[0] == 'z'+1 || sig[0] < 'A' {
				sig[0] = 'B' // still base64
			}
			return b
		}, "signature does not match"},
		"artifact":   {".zip", func(b []byte) []byte { b[len(b)/2] ^= 1; return b }, "the receipt names"},
		"frame":      {".png", func(b []byte) []byte { return append(b, 0) }, "is not the file of the receipt"},
		"checkpoint": {"proof.json", replace(`/log\n2\n`, `/log\n3\n`), "not signed by a known key"},
		"path":       {"proof.json", replace(p.Proof.InclusionProof[0], stranger), "not in the log"},
		"index":      {"proof.json", replace(`"log_index":1`, `"log_index":0`), "another leaf"},
	} {
		if output, err := outside(c.file, c.flip); err == nil || !strings.Contains(output, c.words) {
			t.Errorf("changed %s: wanted %q, got %v: %s", name, c.words, err, output)
		}
	}
}

func TestTheCommandLineWalksTheLogAndRemembersIt(t *testing.T) {
	t.Parallel()
	known := filepath.Join(t.TempDir(), "checkpoint")
	walk := func(svc *story.Service) (output string, code int) {
		t.Helper()
		command := exec.CommandContext(story.Patient(t), apptest.Binary(t), "log", "verify", "--server", svc.URL, "--checkpoint", known)
		text, err := command.CombinedOutput()
		if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed {
			t.Fatal(err)
		}
		return string(text), command.ProcessState.ExitCode()
	}
	config := func() app.Config {
		return app.Config{Listen: "127.0.0.1:0", Data: t.TempDir(), LogOrigin: "renders.example.com/log", Log: story.LogOf(t)}
	}
	svc := story.Start(t, config())
	c := svc.Caller(story.Credit)
	svc.Completed(c)
	if output, code := walk(svc); code != 0 || !strings.Contains(output, "size 1,") || !strings.Contains(output, "log verified") {
		t.Errorf("first walk: %d %s", code, output)
	}
	svc.Completed(c)
	if output, code := walk(svc); code != 0 || !strings.Contains(output, "still begins with the known checkpoint, size 1") {
		t.Errorf("second walk: %d %s", code, output)
	}
	before, err := os.ReadFile(known)
	if err != nil {
		t.Fatal(err)
	}
	other := story.Start(t, config())
	other.Completed(other.Caller(story.Credit))
	if output, code := walk(other); code != 5 || !strings.Contains(output, "the known checkpoint") {
		t.Errorf("another log under the same name: %d %s", code, output)
	}
	if after, err := os.ReadFile(known); err != nil || !bytes.Equal(after, before) {
		t.Errorf("a walk that failed changed what is known: %v", err)
	}
}
