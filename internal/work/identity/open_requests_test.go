package identity_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/test/await"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/identity"
)

// endsWithin is how long a request may outlive its credential.
const endsWithin = 5 * time.Second

// process is one of several that serve the same database.
type process struct {
	db   *db.DB
	open *identity.OpenRequests
}

// request opens a request that authenticates by by. The channel carries why it is ended.
func (p process) request(t *testing.T, by func(ctx context.Context, d *db.DB) error) <-chan error {
	t.Helper()
	ended := make(chan error, 100)
	ctx, done := p.open.Follow(t.Context(), func(cause error) {
		select {
		case ended <- cause:
		default:
		}
	})
	t.Cleanup(done)
	if err := by(ctx, p.db); err != nil {
		t.Fatal(err)
	}
	return ended
}

// TestNoRequestOutlivesItsCredential opens requests of every kind of credential in two
// processes, and ends the credentials through a third one.
func TestNoRequestOutlivesItsCredential(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		h := service{t: t, DB: dbtest.Open(t, db.Config{URL: url})}
		var token string
		h.must(func(ctx context.Context, tx *db.Tx) error {
			p, err := identity.CreateWorkspace(ctx, tx, "someone@example.com")
			h.workspace = p.WorkspaceID
			return err
		})
		account, agent, node := h.keys()
		keptAccount, keptAgent, _ := h.keys()
		token = h.open("someone@example.com", "").Token
		revoke := func(keyID string) func(context.Context, *db.Tx) error {
			return func(ctx context.Context, tx *db.Tx) error { return identity.Revoke(ctx, tx, keyID) }
		}
		byAccount := func(k identity.NewKey) func(context.Context, *db.DB) error {
			return func(ctx context.Context, d *db.DB) error {
				_, err := identity.Account(ctx, d, "Bearer "+k.Secret)
				return err
			}
		}
		byAgent := func(k identity.NewKey) func(context.Context, *db.DB) error {
			return func(ctx context.Context, d *db.DB) error {
				_, err := identity.Agent(ctx, d, "Bearer "+k.Secret)
				return err
			}
		}
		byNode := func(ctx context.Context, d *db.DB) error {
			_, err := identity.Node(ctx, d, "Bearer "+node.Secret)
			return err
		}
		bySession := func(ctx context.Context, d *db.DB) error {
			_, err := identity.Session(ctx, d, token)
			return err
		}
		var over, kept []<-chan error
		for range 2 {
			d := dbtest.Open(t, db.Config{URL: url})
			p := process{d, &identity.OpenRequests{DB: d, Log: slog.New(slog.NewTextHandler(t.Output(), nil))}}
			ctx, stop := context.WithCancel(t.Context())
			ran := make(chan struct{})
			go func() { defer close(ran); p.open.Run(ctx) }()
			t.Cleanup(func() { stop(); <-ran })
			over = append(over, p.request(t, byAccount(account)), p.request(t, byAgent(agent)), p.request(t, byNode), p.request(t, bySession))
			kept = append(kept, p.request(t, byAccount(keptAccount)), p.request(t, byAgent(keptAgent)))
		}
		h.must(revoke(account.KeyID))
		h.must(revoke(agent.KeyID))
		h.must(revoke(node.KeyID))
		h.must(func(ctx context.Context, tx *db.Tx) error { return identity.SignOut(ctx, tx, token) })
		ended := time.Now()
		for n, request := range over {
			if cause := await.Next(t, request, "the end of a request whose credential has ended"); cause != identity.ErrEnded {
				t.Errorf("request %d ended with %v", n, cause)
			}
		}
		if took := time.Since(ended); took > endsWithin {
			t.Errorf("the requests ended %s after their credentials", took)
		}
		for n, request := range kept {
			select {
			case cause := <-request:
				t.Errorf("request %d of a valid key was ended: %v", n, cause)
			default:
			}
		}
	})
}
