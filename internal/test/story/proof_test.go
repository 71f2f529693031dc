package story_test

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
	"svc.example/internal/test/apptest"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/receipt"
)

// proven is a completed job with all that proves it.
type proven struct {
	receipt *client.Receipt
	proof   *client.Proof
	keys    []client.SigningKey
}

func (c caller) proven(job *client.Job) (p proven) {
	c.t.Helper()
	var errs [3]error
	p.receipt, errs[0] = c.Receipt(patient(c.t), job.JobID)
	p.proof, errs[1] = c.Proof(patient(c.t), job.JobID)
	p.keys, errs[2] = c.SigningKeys(patient(c.t))
	if err := errors.Join(errs[:]...); err != nil {
		c.t.Fatal(err)
	}
	return p
}

func TestEveryCompletedJobIsProvenByTheLogOverRotatedKeys(t *testing.T) {
	each(t, func(t *testing.T, config app.Config) {
		config.LogOrigin = "renders.example.com/log"
		svc := start(t, config)
		c := svc.caller(credit)
		first := svc.completed(c)
		before := c.proven(first)
		next, err := svc.app.Keys.Make(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		svc.write(func(ctx context.Context, tx *db.Tx) error {
			return svc.app.Keys.Rotate(ctx, tx, next, time.Hour, receipt.Superseded)
		})
		second := svc.completed(c)
		for i, job := range []*client.Job{first, second} {
			p := c.proven(job)
			checks, err := client.VerifyLog(p.receipt, p.proof, p.keys, nil)
			if err != nil || p.proof.LogIndex != int64(i) {
				t.Errorf("job %d is leaf %d: %v, %v", i, p.proof.LogIndex, err, checks)
			}
			if !strings.HasPrefix(p.proof.Checkpoint, "renders.example.com/log\n2\n") || len(p.keys) != 2 || p.keys[0].KeyID != next.Public().ID() {
				t.Errorf("checkpoint %q, keys %+v", p.proof.Checkpoint, p.keys)
			}
		}
		// Who has only the old key still trusts the old receipt and its old proof.
		if _, err := client.VerifyLog(before.receipt, before.proof, before.keys, []byte(before.proof.Checkpoint)); err != nil {
			t.Error(err)
		}
		after := c.proven(second)
		if _, err := client.VerifyLog(after.receipt, after.proof, before.keys, nil); !errors.Is(err, client.ErrBadSignature) {
			t.Errorf("a receipt of an unknown key: %v", err)
		}
	})
}

func TestTheLogIsServedForCachesAndStrangers(t *testing.T) {
	each(t, func(t *testing.T, config app.Config) {
		svc := start(t, config)
		c := svc.caller(credit)
		p := c.proven(svc.completed(c))
		entry, err := receipt.EntryOf(p.receipt.Envelope)
		if err != nil {
			t.Fatal(err)
		}
		checkpoint := get(t, http.MethodGet, svc.url+"/log/checkpoint", nil)
		if string(checkpoint.body) != p.proof.Checkpoint || checkpoint.header.Get("Cache-Control") != "no-cache" || checkpoint.header.Get("Content-Type") != "text/plain; charset=utf-8" {
			t.Errorf("checkpoint %q, %v", checkpoint.body, checkpoint.header)
		}
		hash := entry.LeafHash()
		for path, want := range map[string][]byte{
			"entries/000.p/1": append([]byte{0, 32}, entry[:]...),
			"0/000.p/1":       hash[:],
		} {
			tile := get(t, http.MethodGet, svc.url+"/log/tile/"+path, nil)
			if !bytes.Equal(tile.body, want) || !strings.Contains(tile.header.Get("Cache-Control"), "immutable") || tile.header.Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("tile %s: %x, %v", path, tile.body, tile.header)
			}
		}
		for _, none := range []string{"entries/000.p/2", "0/000", "1/000.p/1", "data/000.p/1", "x", "0/9999999"} {
			get(t, http.MethodGet, svc.url+"/log/tile/"+none, nil).want(t, http.StatusNotFound, "route_not_found")
		}
	})
}

func TestAProofPageIsForAnybodyUntilItsOwnerSwitchesItOff(t *testing.T) {
	eachShared(t, func(t *testing.T, svc *service) {
		c := svc.caller(credit)
		p := c.proven(c.completed())
		address := svc.url + "/proof/" + p.proof.ReceiptID
		var shown struct {
			Envelope json.RawMessage `json:"envelope"`
			receipt.Inclusion
			Keys []client.SigningKey `json:"keys"`
		}
		answered := get(t, http.MethodGet, address, nil)
		if err := json.Unmarshal(answered.body, &shown); err != nil || answered.status != http.StatusOK {
			t.Fatalf("%d %s: %v", answered.status, answered.body, err)
		}
		entry, err := receipt.EntryOf(shown.Envelope)
		if err != nil {
			t.Fatal(err)
		}
		key, err := receipt.ParsePublicPEM([]byte(shown.Keys[0].PublicKeyPEM))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := shown.Check(entry, []receipt.PublicKey{key}); err != nil {
			t.Error(err)
		}
		browser := http.Header{"Accept": {"text/html,*/*"}}
		page := get(t, http.MethodGet, address, browser)
		page.want(t, http.StatusOK, "<!doctype html>")
		if policy := page.header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("policy %q", policy)
		}
		get(t, http.MethodGet, svc.url+"/proof/"+flipped(p.proof.ReceiptID), browser).want(t, http.StatusNotFound, "receipt_not_found")
		for _, show := range []bool{false, true} {
			svc.write(func(ctx context.Context, tx *db.Tx) error { return identity.SetProofPages(ctx, tx, c.workspace, show) })
			status, code := http.StatusOK, "html"
			if !show {
				status, code = http.StatusNotFound, "receipt_not_found"
			}
			get(t, http.MethodGet, address, browser).want(t, status, code)
		}
	})
}

// TestOthersVerifyWithTheirOwnTools lets scripts/verify-outside, which shares
// nothing with svc, check what a caller keeps, and then each of it changed.
func TestOthersVerifyWithTheirOwnTools(t *testing.T) {
	t.Parallel()
	svc := start(t, app.Config{Listen: "127.0.0.1:0", Data: t.TempDir(), Log: logOf(t)})
	c := svc.caller(credit)
	svc.completed(c)
	job := svc.completed(c)
	p := c.proven(job)
	outside := func(change string, flip func([]byte) []byte) (string, error) { return c.outside(job, change, flip) }
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
		"checkpoint": {"proof.json", replace(`/log\n2\n`, `/log\n3\n`), "not signed by a known key"},
		"path":       {"proof.json", replace(p.proof.InclusionProof[0], stranger), "not in the log"},
		"index":      {"proof.json", replace(`"log_index":1`, `"log_index":0`), "another leaf"},
	} {
		if output, err := outside(c.file, c.flip); err == nil || !strings.Contains(output, c.words) {
			t.Errorf("changed %s: wanted %q, got %v: %s", name, c.words, err, output)
		}
	}
}

// outside has scripts/verify-outside check what a caller keeps of a job. The file whose name
// ends with change is changed by flip; "" changes none.
func (c caller) outside(job *client.Job, change string, flip func([]byte) []byte) (output string, err error) {
	c.t.Helper()
	folder, p := c.t.TempDir(), c.proven(job)
	artifact, err := c.Artifact(patient(c.t), job.JobID)
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.Download(patient(c.t), job.JobID, filepath.Join(folder, artifact.Filename), nil); err != nil {
		c.t.Fatal(err)
	}
	proof, err := json.Marshal(p.proof)
	if err != nil {
		c.t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"receipt.json": p.receipt.Envelope, "proof.json": proof, "signing-key.pem": []byte(p.keys[0].PublicKeyPEM), artifact.Filename: nil,
	} {
		if content == nil {
			if content, err = os.ReadFile(filepath.Join(folder, name)); err != nil {
				c.t.Fatal(err)
			}
		}
		if strings.HasSuffix(name, change) && change != "" {
			content = flip(bytes.Clone(content))
		}
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			c.t.Fatal(err)
		}
	}
	text, err := exec.CommandContext(patient(c.t), "../../../scripts/verify-outside", folder).CombinedOutput()
	return string(text), err
}

func TestTheCommandLineWalksTheLogAndRemembersIt(t *testing.T) {
	t.Parallel()
	known := filepath.Join(t.TempDir(), "checkpoint")
	walk := func(svc *service) (output string, code int) {
		t.Helper()
		command := exec.CommandContext(patient(t), apptest.Binary(t), "log", "verify", "--server", svc.url, "--checkpoint", known)
		text, err := command.CombinedOutput()
		if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed {
			t.Fatal(err)
		}
		return string(text), command.ProcessState.ExitCode()
	}
	config := func() app.Config {
		return app.Config{Listen: "127.0.0.1:0", Data: t.TempDir(), LogOrigin: "renders.example.com/log", Log: logOf(t)}
	}
	svc := start(t, config())
	c := svc.caller(credit)
	svc.completed(c)
	if output, code := walk(svc); code != 0 || !strings.Contains(output, "size 1,") || !strings.Contains(output, "log verified") {
		t.Errorf("first walk: %d %s", code, output)
	}
	svc.completed(c)
	if output, code := walk(svc); code != 0 || !strings.Contains(output, "still begins with the known checkpoint, size 1") {
		t.Errorf("second walk: %d %s", code, output)
	}
	before, err := os.ReadFile(known)
	if err != nil {
		t.Fatal(err)
	}
	other := start(t, config())
	other.completed(other.caller(credit))
	if output, code := walk(other); code != 5 || !strings.Contains(output, "the known checkpoint") {
		t.Errorf("another log under the same name: %d %s", code, output)
	}
	if after, err := os.ReadFile(known); err != nil || !bytes.Equal(after, before) {
		t.Errorf("a walk that failed changed what is known: %v", err)
	}
}
