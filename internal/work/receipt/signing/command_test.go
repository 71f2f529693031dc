package signing_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/ground/signingkey/keyfile"
	"svc.example/internal/test/script"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/receipt/receiptlog"
	"svc.example/internal/work/receipt/signing"
)

// program writes a shell script.
func program(t *testing.T, text string) signing.Command {
	t.Helper()
	return signing.Command{Words: []string{script.Write(t, filepath.Join(t.TempDir(), "sign"), text)}}
}

// openssl signs with the key of a file, and counts how often in another.
func openssl(t *testing.T, key signingkey.Key) (sign signing.Command, count func() int) {
	t.Helper()
	folder := t.TempDir()
	if err := keyfile.Create(filepath.Join(folder, "key.pem"), key); err != nil {
		t.Fatal(err)
	}
	sign = program(t, fmt.Sprintf("cd %s && echo x >> count && cat > data && openssl pkeyutl -sign -rawin -inkey key.pem -in data\n", folder))
	return sign, func() int {
		text, err := os.ReadFile(filepath.Join(folder, "count"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(text), "x")
	}
}

func TestAProgramSignsReceiptsAndCheckpoints(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h service) {
		key, err := signingkey.New(strings.NewReader(strings.Repeat("p", 32)))
		if err != nil {
			t.Fatal(err)
		}
		sign, count := openssl(t, key)
		ring, err := signing.External(key.Public(), sign)
		if err != nil {
			t.Fatal(err)
		}
		h.register(ring)
		if got := h.signs(ring); got != key.Public().ID() {
			t.Errorf("it signs with %s", got)
		}
		ctx := context.Background()
		h.write(func(tx *db.Tx) error {
			if err := receiptlog.Name(ctx, tx, "renders.example.com/log"); err != nil {
				return err
			}
			outside, err := ring.Current(ctx, tx)
			if err != nil {
				return err
			}
			head, err := receiptlog.Head(ctx, tx)
			if err != nil {
				return err
			}
			for range 10 {
				text, err := receipt.SignCheckpoint(head, outside)
				if err != nil {
					return err
				}
				if _, err := receipt.OpenCheckpoint(text, []signingkey.Public{key.Public()}); err != nil {
					t.Error(err)
				}
			}
			envelope, err := receipt.Seal([]byte(`{"a":1}`), outside)
			if err != nil {
				return err
			}
			if _, err := receipt.Unseal(envelope, []signingkey.Public{key.Public()}); err != nil {
				t.Error(err)
			}
			if err := keyfile.Create(filepath.Join(t.TempDir(), "x.pem"), outside); err == nil {
				t.Error("a key that is elsewhere is written to a file")
			}
			return nil
		})
		if n := count(); n != 3 {
			t.Errorf("the program ran %d times, wanted once for the probe, the checkpoint and the envelope", n)
		}
	})
}

func TestAProgramThatDoesNotHaveTheKeySignsNothing(t *testing.T) {
	t.Parallel()
	key, err := signingkey.New(strings.NewReader(strings.Repeat("p", 32)))
	if err != nil {
		t.Fatal(err)
	}
	other, err := signingkey.New(strings.NewReader(strings.Repeat("o", 32)))
	if err != nil {
		t.Fatal(err)
	}
	another, _ := openssl(t, other)
	for name, c := range map[string]struct {
		sign  signing.Command
		words string
	}{
		"another key": {another, "not that of the public key"},
		"nothing":     {program(t, "cat > /dev/null"), "not that of the public key"},
		"too much":    {program(t, "head -c 100000 /dev/zero"), "not that of the public key"},
		"a failure":   {program(t, "echo the token is locked >&2; exit 7"), "the token is locked"},
		"no program":  {signing.Command{Words: []string{filepath.Join(t.TempDir(), "none")}}, "no such file"},
	} {
		if _, err := signing.External(key.Public(), c.sign); err == nil || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: %v, wanted %q", name, err, c.words)
		}
	}
}
