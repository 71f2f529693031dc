package client_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"svc.example/client"
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/test/receipttest"
	"svc.example/internal/work/receipt"
)

func TestVerifyDistinguishesAnHonestJobFromAChangedOne(t *testing.T) {
	t.Parallel()
	job, err := receipttest.Complete(2)
	if err != nil {
		t.Fatal(err)
	}
	key, err := signingkey.New(strings.NewReader(strings.Repeat("k", 32)))
	if err != nil {
		t.Fatal(err)
	}
	envelope, err := receipt.Sign(job.Receipt, key)
	if err != nil {
		t.Fatal(err)
	}
	members, err := json.Marshal(job.Receipt)
	if err != nil {
		t.Fatal(err)
	}
	public, err := key.Public().PEM()
	if err != nil {
		t.Fatal(err)
	}
	told := &client.Receipt{Members: members, Envelope: envelope}
	keys := []client.SigningKey{{PublicKeyPEM: string(public)}}
	size := int64(len(job.ZIP))
	checks, err := client.Verify(told, keys, bytes.NewReader(job.ZIP), size)
	if err != nil || len(checks) < 7 || checks[0].Name != "signature" || checks[0].Status != "ok" {
		t.Errorf("an honest job: %v, error %v", checks, err)
	}
	if _, err := client.Verify(told, keys, nil, 0); err != nil {
		t.Errorf("without the ZIP: %v", err)
	}
	job.ZIP[50] ^= 1
	if _, err := client.Verify(told, keys, bytes.NewReader(job.ZIP), size); !errors.Is(err, client.ErrBadArtifact) {
		t.Errorf("a changed ZIP: %v", err)
	}
	told.Members = bytes.Replace(members, []byte(`"charged_cents":2`), []byte(`"charged_cents":1`), 1)
	if _, err := client.Verify(told, keys, nil, 0); !errors.Is(err, client.ErrBadSignature) {
		t.Errorf("changed members: %v", err)
	}
	if _, err := client.Verify(&client.Receipt{}, keys, nil, 0); !errors.Is(err, client.ErrBadSignature) {
		t.Errorf("no receipt: %v", err)
	}
}

func TestFramesThatWereTakenOverAreComparedWithTheirOrigins(t *testing.T) {
	t.Parallel()
	key, err := signingkey.New(strings.NewReader(strings.Repeat("k", 32)))
	if err != nil {
		t.Fatal(err)
	}
	public, err := key.Public().PEM()
	if err != nil {
		t.Fatal(err)
	}
	keys := []client.SigningKey{{PublicKeyPEM: string(public)}}
	signed := func(id string, index int64, change func(*receipt.Receipt)) *client.Receipt {
		job, err := receipttest.Complete(2)
		if err != nil {
			t.Fatal(err)
		}
		job.Receipt.ReceiptID, job.Receipt.LogIndex = id, &index
		change(&job.Receipt)
		envelope, err := receipt.Sign(job.Receipt, key)
		if err != nil {
			t.Fatal(err)
		}
		members, err := json.Marshal(job.Receipt)
		if err != nil {
			t.Fatal(err)
		}
		return &client.Receipt{Members: members, Envelope: envelope}
	}
	later := signed("RCT-2", 7, func(r *receipt.Receipt) {
		f := &r.Frames[1]
		f.Reused, f.RenderSeconds, f.Times = receipt.Origin{ReceiptID: "RCT-1", LogIndex: 3}, 0, receipt.Times{}
	})
	honest := signed("RCT-1", 3, func(*receipt.Receipt) {})
	other := signed("RCT-1", 3, func(r *receipt.Receipt) { r.Frames[1].SHA256 = r.Frames[0].SHA256 })
	for name, c := range map[string]struct {
		origins []*client.Receipt
		status  string
	}{"no origin": {nil, "skipped"}, "its origin": {[]*client.Receipt{honest}, "ok"}, "another picture": {[]*client.Receipt{other}, "failed"}} {
		checks, err := client.Verify(later, keys, nil, 0, client.Origins(c.origins...))
		if last := checks[len(checks)-1]; last.Name != "reused" || last.Status != c.status || (err != nil) != (c.status == "failed") {
			t.Errorf("%s: %+v, %v", name, last, err)
		}
	}
}

// A folder proves itself by the ZIP or by its frames; one frame of another job is found.
func TestAFolderProvesItself(t *testing.T) {
	t.Parallel()
	job, err := receipttest.Complete(2)
	if err != nil {
		t.Fatal(err)
	}
	key, err := signingkey.New(strings.NewReader(strings.Repeat("k", 32)))
	if err != nil {
		t.Fatal(err)
	}
	index := int64(1)
	job.Receipt.LogIndex = &index
	envelope, err := receipt.Sign(job.Receipt, key)
	if err != nil {
		t.Fatal(err)
	}
	leaves, err := receipttest.Leaves(envelope, index, 3)
	if err != nil {
		t.Fatal(err)
	}
	logged, err := receipttest.Prove(leaves, index, key)
	if err != nil {
		t.Fatal(err)
	}
	public, err := key.Public().PEM()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	write := func(name string, content any) {
		t.Helper()
		text, is := content.([]byte)
		if !is {
			var err error
			if text, err = json.Marshal(content); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("receipt.json", envelope)
	write("proof.json", logged)
	write("keys.json", map[string]any{"keys": []client.SigningKey{{KeyID: key.Public().ID(), PublicKeyPEM: string(public)}}})
	if _, err := client.VerifyFolder(folder, nil); !errors.Is(err, client.ErrBadArtifact) {
		t.Errorf("without frames: %v", err)
	}
	write(job.Receipt.Artifact.Filename, job.ZIP)
	if checks, err := client.VerifyFolder(folder, nil); err != nil {
		t.Errorf("with the ZIP: %v, %+v", err, checks)
	}
	if err := os.Remove(filepath.Join(folder, job.Receipt.Artifact.Filename)); err != nil {
		t.Fatal(err)
	}
	for i, frame := range job.Receipt.Frames {
		write(frame.File, job.Pictures[i])
	}
	if checks, err := client.VerifyFolder(folder, nil); err != nil {
		t.Errorf("with all frames: %v, %+v", err, checks)
	}
	write(job.Receipt.Frames[0].File, job.Pictures[1])
	if _, err := client.VerifyFolder(folder, nil); !errors.Is(err, client.ErrBadArtifact) {
		t.Errorf("a swapped frame: %v", err)
	}
}
