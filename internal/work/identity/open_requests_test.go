package identity_test

import (
	"context"
	"log/slog"
	"testing"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/await"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/identity/inflight"
)

// process is one of several that serve the same database.
type process struct {
	db   *db.DB
	open *inflight.Requests
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
				_, err := identity.Agent(ctx, d, "Bearer "+k.Secret, "")
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
			p := process{d, &inflight.Requests{DB: d, Log: slog.New(slog.NewTextHandler(t.Output(), nil))}}
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
		for n, request := range over {
			if cause := await.Next(t, request, "the end of a request whose credential has ended"); cause != inflight.ErrEnded {
				t.Errorf("request %d ended with %v", n, cause)
			}
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

// TestAWorkspaceMayHaveOnlySoManyRequestsOpen opens requests by every kind of credential
// of one workspace, until one more is refused.
func TestAWorkspaceMayHaveOnlySoManyRequestsOpen(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := service{t: t, DB: d}
		h.must(func(ctx context.Context, tx *db.Tx) error {
			p, err := identity.CreateWorkspace(ctx, tx, "someone@example.com")
			h.workspace = p.WorkspaceID
			return err
		})
		account, agent, node := h.keys()
		token := h.open("someone@example.com", "").Token
		other := service{t: t, DB: d}
		other.must(func(ctx context.Context, tx *db.Tx) error {
			p, err := identity.CreateWorkspace(ctx, tx, "other@example.com")
			other.workspace = p.WorkspaceID
			return err
		})
		otherAccount, _, _ := other.keys()

		open := &inflight.Requests{DB: d, Log: slog.New(slog.DiscardHandler), Most: 3}
		ask := func(by func(ctx context.Context) error) (done func(), err error) {
			ctx, done := open.Follow(t.Context(), func(error) {})
			t.Cleanup(done)
			return done, by(ctx)
		}
		byAccount := func(key identity.NewKey) func(context.Context) error {
			return func(ctx context.Context) error {
				_, err := identity.Account(ctx, d, "Bearer "+key.Secret)
				return err
			}
		}
		bySession := func(ctx context.Context) error {
			_, err := identity.Session(ctx, d, token)
			return err
		}
		must := func(by func(context.Context) error) (done func()) {
			t.Helper()
			done, err := ask(by)
			if err != nil {
				t.Fatal(err)
			}
			return done
		}
		first := must(byAccount(account))
		must(bySession)
		// One request may authenticate twice; it is still one.
		must(func(ctx context.Context) error {
			_, err := identity.Agent(ctx, d, "Bearer "+agent.Secret, "")
			if err != nil {
				return err
			}
			_, err = identity.Agent(ctx, d, "Bearer "+agent.Secret, "")
			return err
		})
		for _, by := range []func(context.Context) error{byAccount(account), bySession} {
			if _, err := ask(by); !fault.Is(err, fault.RateLimited) {
				t.Errorf("a fourth request is answered with %v", err)
			}
		}
		must(byAccount(otherAccount))
		for range 5 {
			must(func(ctx context.Context) error {
				_, err := identity.Node(ctx, d, "Bearer "+node.Secret)
				return err
			})
		}
		first()
		must(byAccount(account))
	})
}
