package proof_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/story"
	"svc.example/internal/work/receipt"
)

// A thief has a copy of the key that signed before the operator ended it as compromised.
// docs/keys.md says what the thief can do; this is it.
func TestAThiefOfAnEndedKeyPassesNothingOff(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		config.LogOrigin = "renders.example.com/log"
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		first := svc.Completed(c)
		var stolen signingkey.Key
		svc.Read(func(ctx context.Context, tx *db.Tx) (err error) {
			stolen, err = svc.App.Keys.Current(ctx, tx)
			return err
		})
		saved := c.Proven(first) // before it was known
		next, err := svc.App.Keys.Make(strings.NewReader(strings.Repeat("n", 32)))
		if err != nil {
			t.Fatal(err)
		}
		svc.Write(func(ctx context.Context, tx *db.Tx) error {
			return svc.App.Keys.Rotate(ctx, tx, next, 0, receipt.Compromised)
		})
		second := svc.Completed(c)
		before, after := c.Proven(first), c.Proven(second)

		// verify runs the command on a receipt and a proof, with the service's keys.
		verify := func(envelope, proof any, keys string) (said string, code int) {
			t.Helper()
			folder := t.TempDir()
			for name, value := range map[string]any{"receipt.json": envelope, "proof.json": proof, "keys.json": map[string]any{"keys": after.Keys}} {
				text, err := json.Marshal(value)
				if err == nil {
					err = os.WriteFile(filepath.Join(folder, name), text, 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			command := exec.CommandContext(story.Patient(t), apptest.Binary(t), "verify", "receipt.json", "--keys", keys, "--require", "log,key")
			command.Dir = folder
			text, err := command.CombinedOutput()
			if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed {
				t.Fatal(err)
			}
			return string(text), command.ProcessState.ExitCode()
		}
		for _, keys := range []string{"keys.json", svc.URL + "/v1/signing-keys"} {
			if said, code := verify(before.Receipt.Envelope, before.Proof, keys); code != 0 || !strings.Contains(said, "ended at 1 leaf of the log (compromised), after leaf 0") {
				t.Errorf("a receipt of the key from before its end: %d %s", code, said)
			}
			if said, code := verify(after.Receipt.Envelope, after.Proof, keys); code != 0 || !strings.Contains(said, "it has not ended") {
				t.Errorf("a receipt of the new key: %d %s", code, said)
			}
			if said, code := verify(before.Receipt.Envelope, saved.Proof, keys); code != 5 || !strings.Contains(said, "download the proof again") {
				t.Errorf("a proof that only the stolen key signed: %d %s", code, said)
			}
		}

		// The thief takes a true receipt, changes its price, and signs it with a right
		// signature, as the first leaf of a log of the thief's own.
		forged := changedReceipt(t, before.Receipt.Envelope, stolen)
		entry, err := receipt.EntryOf(forged)
		if err != nil {
			t.Fatal(err)
		}
		checkpoint, err := receipt.SignCheckpoint(receipt.Checkpoint{Origin: config.LogOrigin, Size: 1, Root: entry.LeafHash()}, stolen)
		if err != nil {
			t.Fatal(err)
		}
		own := receipt.NewInclusion(0, tlog.RecordProof{}, checkpoint)
		if report := receipt.Verify(forged, []signingkey.Public{stolen.Public()}, nil); report.Err() != nil {
			t.Fatalf("the forgery is badly made: %v", report.Err())
		}
		if said, code := verify(json.RawMessage(forged), own, "keys.json"); code != 5 || !strings.Contains(said, "compromised") {
			t.Errorf("a forgery in a log of the thief's own: %d %s", code, said)
		}
		if said, code := verify(json.RawMessage(forged), before.Proof, "keys.json"); code != 5 || !strings.Contains(said, "does not lead to the root") {
			t.Errorf("a forgery with the true receipt's proof: %d %s", code, said)
		}
	})
}

// changedReceipt is a receipt with another price, signed by a key.
func changedReceipt(t *testing.T, envelope []byte, key signingkey.Key) []byte {
	t.Helper()
	r, err := receipt.Open(envelope, []signingkey.Public{key.Public()})
	if err != nil {
		t.Fatal(err)
	}
	r.ChargedCents += 100
	forged, err := receipt.Sign(r, key)
	if err != nil {
		t.Fatal(err)
	}
	return forged
}
