package story_test

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/identity"
)

// secrets are the forms of what opens something: keys of accounts, agents and nodes, the
// secrets of webhooks, the tokens of sign-in links, the signatures of URLs, private keys.
var secrets = regexp.MustCompile(`svc_(agent_|node_)?[0-9A-Za-z]{43}|whsec_[0-9A-Za-z+/=_-]{20,}|token=[0-9A-Za-z_-]{20,}|[?&]sig(nature)?=[0-9A-Za-z_-]{20,}|v1,[0-9A-Za-z+/]{40,}=|Bearer [0-9A-Za-z_.-]{20,}|PRIVATE KEY`)

// guarded is the log of a story: a secret in it fails the story.
type guarded struct {
	t   testing.TB
	out io.Writer
}

func (g guarded) Write(line []byte) (int, error) {
	if found := secrets.Find(line); found != nil {
		g.t.Errorf("a log has the secret %.16s…: %s", found, secrets.ReplaceAll(line, []byte("SECRET")))
	}
	return g.out.Write(line)
}

// TestTheGuardOfLogsKnowsEverySecret makes one of each kind, as the service does.
func TestTheGuardOfLogsKnowsEverySecret(t *testing.T) {
	each(t, func(t *testing.T, config app.Config) {
		svc := open(t, config)
		var made []string
		svc.write(func(ctx context.Context, tx *db.Tx) error {
			made = nil
			p, err := identity.CreateWorkspace(ctx, tx, "you@example.org")
			if err != nil {
				return err
			}
			for _, key := range []func() (identity.NewKey, error){
				func() (identity.NewKey, error) { return identity.CreateAccountKey(ctx, tx, p.WorkspaceID, "one") },
				func() (identity.NewKey, error) { return identity.CreateAgentKey(ctx, tx, p.WorkspaceID, "one", nil) },
				func() (identity.NewKey, error) { return identity.CreateNodeKey(ctx, tx, "one") },
			} {
				k, err := key()
				if err != nil {
					return err
				}
				made = append(made, k.Secret)
			}
			token, err := identity.CreateSignInLink(ctx, tx, "you@example.org")
			made = append(made, links.Links{PublicURL: "https://example.org"}.SignIn(token))
			return err
		})
		at := svc.app.Links("https://example.org")
		secret := "whsec_" + strings.Repeat("QUJD", 8)
		hook, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			t.Fatal(err)
		}
		signature, err := hook.Sign("msg_1", time.Now(), []byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, at.Download("JOB-1", time.Now()), at.Upload("UPL-1", time.Now()), secret, signature)
		files, err := filepath.Glob(filepath.Join(config.Data, "keys", "signing*.pem"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%v, %v", files, err)
		}
		pem, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range append(made, string(pem)) {
			if !secrets.MatchString(text) {
				t.Errorf("the guard does not know %q", text)
			}
		}
	})
}

// logOf shows the log of a story that fails, and fails one whose log has a secret.
func logOf(t *testing.T) *slog.Logger {
	return slog.New(slog.NewTextHandler(guarded{t, t.Output()}, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
