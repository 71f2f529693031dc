package proof_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/ground/signingkey/keyfile"
	"svc.example/internal/test/story"
)

// The service has no private half in its folder: a program signs.
func TestAServiceWhoseKeyIsElsewhereGivesReceipts(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		folder := t.TempDir()
		key, err := signingkey.New(strings.NewReader(strings.Repeat("e", 32)))
		if err != nil {
			t.Fatal(err)
		}
		public, err := key.Public().PEM()
		if err != nil {
			t.Fatal(err)
		}
		for name, write := range map[string]func(path string) error{
			"key.pem":    func(path string) error { return keyfile.Create(path, key) },
			"public.pem": func(path string) error { return os.WriteFile(path, public, 0o600) },
			"sign": func(path string) error {
				return os.WriteFile(path, []byte("data=$(mktemp) && trap 'rm $data' EXIT && cat > $data && openssl pkeyutl -sign -rawin -inkey \"$1\" -in $data\n"), 0o600)
			},
		} {
			if err := write(filepath.Join(folder, name)); err != nil {
				t.Fatal(err)
			}
		}
		config.SigningCommand = []string{"/bin/sh", filepath.Join(folder, "sign"), filepath.Join(folder, "key.pem")}
		config.SigningPublic = filepath.Join(folder, "public.pem")
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		p := c.Proven(svc.Completed(c))
		if checks, err := client.VerifyLog(p.Receipt, p.Proof, p.Keys, nil); err != nil || p.Keys[0].KeyID != key.Public().ID() {
			t.Errorf("%v, %+v", err, checks)
		}
		if kept, err := filepath.Glob(filepath.Join(config.Data, "keys", "signing*")); err != nil || len(kept) > 0 {
			t.Errorf("a signing key lies in the data folder: %v, %v", kept, err)
		}
	})
}
