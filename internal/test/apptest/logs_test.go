package apptest

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/links"
	"svc.example/internal/ground/outbound"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/webhook"
)

// reported counts the errors of a test that must fail.
type reported struct {
	testing.TB
	errors []string
}

func (r *reported) Helper() {}

func (r *reported) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

// secretsMade are one secret of each kind, as a service makes them, by what they are.
func secretsMade(t *testing.T, service *app.App) map[string]string {
	t.Helper()
	made := map[string]string{}
	var workspace string
	err := service.DB.Write(t.Context(), func(tx *db.Tx) error {
		ctx := t.Context()
		p, err := identity.CreateWorkspace(ctx, tx, "you@example.org")
		if err != nil {
			return err
		}
		workspace = p.WorkspaceID
		for kind, create := range map[string]func() (identity.NewKey, error){
			"account key": func() (identity.NewKey, error) { return identity.CreateAccountKey(ctx, tx, workspace, "one") },
			"agent key": func() (identity.NewKey, error) {
				return identity.CreateAgentKey(ctx, tx, workspace, identity.AgentTerms{Name: "one"})
			},
			"node key": func() (identity.NewKey, error) { return identity.CreateNodeKey(ctx, tx, "one") },
		} {
			key, err := create()
			if err != nil {
				return err
			}
			made[kind] = key.Secret
		}
		used, err := identity.CreateSignInLink(ctx, tx, "you@example.org")
		if err != nil {
			return err
		}
		session, err := identity.SignIn(ctx, tx, used, "")
		if err != nil {
			return err
		}
		made["session"] = session.Token
		made["sign-in link"], err = identity.CreateSignInLink(ctx, tx, "you@example.org")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := sealKeys(service.Config)
	if err != nil {
		t.Fatal(err)
	}
	here := outbound.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	hooks := webhook.New(webhook.Config{DB: service.DB, LockWorkspace: identity.LockWorkspace, Keys: sealed, Guard: outbound.New(here), Random: rand.Reader})
	for kind, given := range map[string]string{"generated": "", "with a slash": "whsec_" + strings.Repeat("QU/+", 8) + "QQ==", "chosen": "correct_horse_battery"} {
		_, generated, err := hooks.Create(t.Context(), workspace, webhook.NewEndpoint{URL: "https://127.0.0.1/" + id.New(""), Secret: given})
		if err != nil {
			t.Fatal(err)
		}
		made["webhook secret, "+kind] = given + generated
	}
	for _, file := range []string{"seal.keys", "link.key", "signing.pem"} {
		text, err := os.ReadFile(filepath.Join(service.Config.Data, "keys", file))
		if err != nil {
			t.Fatal(err)
		}
		made[file] = string(text)
		if file == "link.key" {
			made[file] = hex.EncodeToString(text)
		}
	}
	return made
}

func TestALogIsHeldAgainstEverySecretOfTheStore(t *testing.T) {
	t.Parallel()
	for _, engine := range dbtest.Engines() {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			service, err := app.Open(t.Context(), app.Config{Data: t.TempDir(), Database: dbtest.URL(t, engine), Log: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = service.Close() }()
			made := secretsMade(t, service)
			innocent, quiet := words{seen: map[[sha256.Size]byte]bool{}}, &reported{TB: t}
			innocent.add([]byte(`level=INFO msg="a request" path=/v1/renders/` + id.New(id.Job) + ` sha256=` + hex.EncodeToString(make([]byte, 32))))
			if innocent.hold(quiet, service); len(quiet.errors) > 0 {
				t.Errorf("a log without a secret is reported: %q", quiet.errors)
			}
			for kind, secret := range made {
				log, told := words{seen: map[[sha256.Size]byte]bool{}}, &reported{TB: t}
				log.add([]byte("level=INFO msg=\"it has " + secret + "\""))
				if log.hold(told, service); len(told.errors) == 0 {
					t.Errorf("a log with a %s, %q, is passed", kind, secret)
				}
			}
		})
	}
}

// TestASecretIsKnownByItsForm holds what the store does not keep, or no more.
func TestASecretIsKnownByItsForm(t *testing.T) {
	t.Parallel()
	at := links.Links{PublicURL: "https://example.org", Key: make([]byte, 32)}
	hook, err := standardwebhooks.NewWebhookRaw([]byte("correct_horse_battery"))
	if err != nil {
		t.Fatal(err)
	}
	signature, err := hook.Sign("msg_1", time.Now(), []byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	secret := strings.Repeat("0aZ", 15)[:43]
	for _, text := range []string{
		"svc_" + secret, "svc_agent_" + secret, "svc_node_" + secret, "Bearer " + secret, "whsec_" + secret,
		at.SignIn(secret), at.Download("JOB-1", time.Now()), at.Upload("UPL-1", time.Now()), at.PreviewImage("PRV-1", time.Now()),
		signature, "-----BEGIN PRIVATE KEY-----",
	} {
		told := &reported{TB: t}
		if _, err := LogWriter(told, io.Discard).Write([]byte("msg=\"it has " + text + "\"\n")); err != nil || len(told.errors) == 0 {
			t.Errorf("a log with %q is passed, %v", text, err)
		}
	}
}
