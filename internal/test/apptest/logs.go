package apptest

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/rowsum"
	"svc.example/internal/ground/seal"
)

// secretForms are the forms of what opens something: keys of accounts, agents and nodes,
// the secrets of webhooks and their signatures, tokens of sign-in links and sessions, the
// signatures of URLs, private keys.
var secretForms = regexp.MustCompile(`svc_(agent_test_|test_|agent_|node_|operator_)?[0-9A-Za-z]{43}|whsec_[0-9A-Za-z+/=_-]{20,}|token=[0-9A-Za-z_-]{20,}|[?&]sig(nature)?=[0-9A-Za-z_-]{20,}|v1,[0-9A-Za-z+/]{40,}=|Bearer [0-9A-Za-z_.-]{20,}|PRIVATE KEY`)

// Logger is a log of the service that goes to out. A secret in it fails the test: one of a
// known form at once, any other that the service made at its Audit.
func Logger(t testing.TB, out io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(LogWriter(t, out), &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// LogWriter is Logger for what a process writes.
func LogWriter(t testing.TB, out io.Writer) io.Writer { return guardedLog{t, out} }

type guardedLog struct {
	t   testing.TB
	out io.Writer
}

func (g guardedLog) Write(line []byte) (int, error) {
	if found := secretForms.Find(line); found != nil {
		g.t.Errorf("a log has the secret %.16s…: %s", found, secretForms.ReplaceAll(line, []byte("SECRET")))
	}
	logged.add(line)
	return g.out.Write(line)
}

// logged are the words of all logs of this test process. Every store's secrets are
// searched in all of them: a process may log a secret that another one made.
var logged = words{seen: map[[sha256.Size]byte]bool{}}

// words remembers the SHA-256 of each word that is long enough to be a secret of ours, as
// the store has it of keys and tokens.
type words struct {
	mu   sync.Mutex
	seen map[[sha256.Size]byte]bool
}

// longWords are as long as the shortest secret, a webhook's that its owner chose. Base64 may
// have a slash in it, and a secret may be between slashes.
var longWords = []*regexp.Regexp{
	regexp.MustCompile(`[0-9A-Za-z_]{16,}`),
	regexp.MustCompile(`[0-9A-Za-z_+/-]{16,}`),
}

func (w *words) add(line []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, form := range longWords {
		for _, word := range form.FindAll(line, -1) {
			w.seen[sha256.Sum256(word)] = true
		}
	}
}

// hold fails a test when a secret of the store is among the words: a key or token whose hash
// is there, the secret of a webhook, or a key of the service itself. What was deleted, such
// as a session that ended, only its form gives away.
func (w *words) hold(t testing.TB, service *app.App) {
	t.Helper()
	made, err := secretsOf(service)
	if err != nil {
		t.Errorf("read the secrets of the store: %v", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for hash, what := range made {
		if w.seen[hash] {
			t.Errorf("a log has %s", what)
		}
	}
}

// secretsOf returns what each secret of a store is, by its hash.
func secretsOf(service *app.App) (map[[sha256.Size]byte]string, error) {
	made := map[[sha256.Size]byte]string{}
	add := func(secret, what string) { made[sha256.Sum256([]byte(secret))] = what }
	hashed := func(hash, what string) error {
		sum, err := hex.DecodeString(hash)
		if err == nil {
			made[[sha256.Size]byte(sum)] = what
		}
		return err
	}
	if err := serviceKeys(service.Config.Data, add); err != nil {
		return nil, err
	}
	sealed, err := sealKeys(service.Config)
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	return made, service.DB.Read(ctx, func(tx *db.Tx) error {
		return errors.Join(
			each(ctx, tx, "account_key", func(k query.AccountKey) error {
				return hashed(k.SecretSha256, "the secret of account key "+k.KeyID)
			}),
			each(ctx, tx, "agent_key", func(k query.AgentKey) error {
				return hashed(k.SecretSha256, "the secret of agent key "+k.KeyID)
			}),
			each(ctx, tx, "node_key", func(k query.NodeKey) error {
				return hashed(k.SecretSha256, "the secret of node key "+k.KeyID)
			}),
			each(ctx, tx, "session", func(s query.Session) error {
				return hashed(s.TokenSha256, "the token of a session of "+s.PersonID)
			}),
			each(ctx, tx, "sign_in_link", func(l query.SignInLink) error {
				return hashed(l.TokenSha256, "the token of a sign-in link of "+l.Email)
			}),
			each(ctx, tx, "share", func(s query.Share) error {
				return hashed(s.TokenSha256, "the token of the share link of "+s.JobID)
			}),
			each(ctx, tx, "webhook_secret", func(s query.WebhookSecret) error {
				secret, err := sealed.Open(s.Sealed, "webhook_secret/"+s.SecretID)
				if err != nil {
					return fmt.Errorf("secret %s: %w", s.SecretID, err)
				}
				whole, what := strings.TrimRight(string(secret), "="), "the webhook secret "+s.SecretID
				add(whole, what)
				add(strings.TrimPrefix(whole, "whsec_"), what)
				return nil
			}),
		)
	})
}

// each passes every row of a table, whose first column is its key, to do.
func each[Row any](ctx context.Context, tx *db.Tx, table string, do func(Row) error) error {
	return rowsum.Table[Row]{Name: table, Key: 1}.Each(ctx, tx, do)
}

// serviceKeys adds what is in the folder of keys: its words, and a key of raw bytes in the
// forms in which a log could have it.
func serviceKeys(data string, add func(secret, what string)) error {
	folder := filepath.Join(data, "keys")
	files, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(folder, file.Name()))
		if err != nil {
			return err
		}
		what := "what is in keys/" + file.Name()
		for _, word := range strings.Fields(string(text)) {
			add(strings.TrimRight(word, "="), what)
		}
		for _, form := range []string{hex.EncodeToString(text), base64.RawStdEncoding.EncodeToString(text), base64.RawURLEncoding.EncodeToString(text)} {
			add(form, what)
		}
	}
	return nil
}

// sealKeys are the keys that encrypt the secrets of webhooks.
func sealKeys(cfg app.Config) (*seal.Keys, error) {
	text := []byte(cfg.SealKeys)
	if len(text) == 0 {
		var err error
		if text, err = os.ReadFile(filepath.Join(cfg.Data, "keys", "seal.keys")); err != nil {
			return nil, err
		}
	}
	return seal.Parse(text)
}
