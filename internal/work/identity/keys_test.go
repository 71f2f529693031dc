package identity_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/identity"
)

// service is a database with one workspace, whose clock the test moves.
type service struct {
	*db.DB
	t         *testing.T
	skew      *atomic.Int64
	workspace string
}

func each(t *testing.T, test func(h service)) {
	dbtest.EachURL(t, func(t *testing.T, url string) {
		h := service{t: t, skew: &atomic.Int64{}}
		h.DB = dbtest.Open(t, db.Config{URL: url, Skew: func() time.Duration { return time.Duration(h.skew.Load()) }})
		h.must(func(ctx context.Context, tx *db.Tx) error {
			p, err := identity.CreateWorkspace(ctx, tx, "someone@example.com")
			h.workspace = p.WorkspaceID
			return err
		})
		test(h)
	})
}

func (h service) write(do func(ctx context.Context, tx *db.Tx) error) error {
	ctx := context.Background()
	return h.Write(ctx, func(tx *db.Tx) error { return do(ctx, tx) })
}

func (h service) must(do func(ctx context.Context, tx *db.Tx) error) {
	h.t.Helper()
	if err := h.write(do); err != nil {
		h.t.Fatal(err)
	}
}

// keys makes one key of each kind.
func (h service) keys() (account, agent, node identity.NewKey) {
	h.t.Helper()
	h.must(func(ctx context.Context, tx *db.Tx) (err error) {
		if account, err = identity.CreateAccountKey(ctx, tx, h.workspace, "account"); err != nil {
			return err
		}
		limit := int64(50)
		if agent, err = identity.CreateAgentKey(ctx, tx, h.workspace, identity.AgentTerms{Name: "agent", SpendLimitCents: &limit}); err != nil {
			return err
		}
		node, err = identity.CreateNodeKey(ctx, tx, "node")
		return err
	})
	return account, agent, node
}

// doors asks each door to let a secret in.
func (h service) doors(secret string) map[string]error {
	header := "Bearer " + secret
	_, account := identity.Account(h.t.Context(), h.DB, header)
	_, agent := identity.Agent(h.t.Context(), h.DB, header, "")
	_, node := identity.Node(h.t.Context(), h.DB, header)
	return map[string]error{"account": account, "agent": agent, "node": node}
}

func TestKeyWorksOnlyForItsOwnKind(t *testing.T) {
	t.Parallel()
	each(t, func(h service) {
		account, agent, node := h.keys()
		for kind, key := range map[string]identity.NewKey{"account": account, "agent": agent, "node": node} {
			for door, err := range h.doors(key.Secret) {
				if want := door == kind; want != (err == nil) || (!want && !fault.Is(err, fault.Unauthenticated)) {
					h.t.Errorf("%s key at the %s door: %v", kind, door, err)
				}
			}
		}
		key, err := identity.Agent(h.t.Context(), h.DB, "bearer "+agent.Secret, "")
		if err != nil || key.WorkspaceID != h.workspace || key.SpendLimitCents == nil || *key.SpendLimitCents != 50 {
			h.t.Errorf("got %+v, %v", key, err)
		}
		h.must(func(ctx context.Context, tx *db.Tx) error {
			listed, err := identity.AgentKeys(ctx, tx, h.workspace)
			if err != nil || len(listed) != 1 || listed[0].SpendLimitCents == nil || *listed[0].SpendLimitCents != 50 {
				h.t.Errorf("listed as %+v, %v", listed, err)
			}
			return nil
		})
	})
}

func TestRevokedKeyIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	each(t, func(h service) {
		account, agent, node := h.keys()
		for _, key := range []identity.NewKey{account, agent, node} {
			revoke := func(ctx context.Context, tx *db.Tx) error { return identity.Revoke(ctx, tx, key.KeyID) }
			h.must(revoke)
			for door, err := range h.doors(key.Secret) {
				if !fault.Is(err, fault.Unauthenticated) {
					h.t.Errorf("%s door after revocation: %v", door, err)
				}
			}
			if err := h.write(revoke); !fault.Is(err, fault.KeyNotFound) {
				h.t.Errorf("revoked twice: %v", err)
			}
		}
	})
}

func TestStrangeHeadersAreUnauthenticated(t *testing.T) {
	t.Parallel()
	each(t, func(h service) {
		_, agent, _ := h.keys()
		other := []byte(agent.Secret)
		other[len(other)-1] ^= 1
		for _, header := range []string{"", "Bearer", "Bearer ", agent.Secret, "Basic " + agent.Secret, "Bearer " + string(other),
			"Bearer svc_agent_", "Bearer " + agent.Secret + "x", "Bearer " + strings.Repeat("a", 1<<16)} {
			if _, err := identity.Agent(h.t.Context(), h.DB, header, ""); !fault.Is(err, fault.Unauthenticated) {
				h.t.Errorf("%.40q: %v", header, err)
			}
		}
	})
}

func TestSecretsAreLongAndStoredOnlyAsHashes(t *testing.T) {
	t.Parallel()
	each(t, func(h service) {
		account, agent, _ := h.keys()
		if n := len(agent.Secret) - len(contract.AgentKeyPrefix); n < 43 {
			h.t.Errorf("%d characters", n)
		}
		if account.MaskedPrefix != account.Secret[:12]+"…" || agent.MaskedPrefix != agent.Secret[:18]+"…" {
			h.t.Errorf("masked as %s and %s", account.MaskedPrefix, agent.MaskedPrefix)
		}
		err := h.Read(h.t.Context(), func(tx *db.Tx) error {
			_, err := tx.AgentKeyBySecret(h.t.Context(), agent.Secret)
			return err
		})
		if !db.IsNotFound(err) {
			h.t.Errorf("the secret itself is in the store: %v", err)
		}
	})
}

func TestNamesAndNumbersOfKeysAreBounded(t *testing.T) {
	t.Parallel()
	each(t, func(h service) {
		create := func(name string) error {
			return h.write(func(ctx context.Context, tx *db.Tx) error {
				_, err := identity.CreateAccountKey(ctx, tx, h.workspace, name)
				return err
			})
		}
		for _, name := range []string{"", "  ", strings.Repeat("é", 81), "\xff"} {
			if err := create(name); !fault.Is(err, fault.InvalidKeyName) {
				h.t.Errorf("%q: %v", name, err)
			}
		}
		var made atomic.Int32
		var wg sync.WaitGroup
		for range contract.MaxActiveKeys + 5 {
			wg.Go(func() {
				if err := create(strings.Repeat("é", 80)); err == nil {
					made.Add(1)
				} else if !fault.Is(err, fault.KeyLimitReached) {
					h.t.Error(err)
				}
			})
		}
		wg.Wait()
		if made.Load() != contract.MaxActiveKeys {
			h.t.Errorf("%d keys were made at once", made.Load())
		}
	})
}

// agentKey makes an agent key with terms.
func (h service) agentKey(terms identity.AgentTerms) (made identity.NewKey) {
	h.t.Helper()
	h.must(func(ctx context.Context, tx *db.Tx) (err error) {
		made, err = identity.CreateAgentKey(ctx, tx, h.workspace, terms)
		return err
	})
	return made
}

func TestAnAgentKeyEndsAtItsTimeAndMakesRoom(t *testing.T) {
	t.Parallel()
	each(t, func(h service) {
		var first identity.NewKey
		for i := range contract.MaxActiveKeys {
			if made := h.agentKey(identity.AgentTerms{Name: "short", Life: time.Hour}); i == 0 {
				first = made
			}
		}
		h.skew.Store(int64(59 * time.Minute))
		if _, err := identity.Agent(h.t.Context(), h.DB, "Bearer "+first.Secret, ""); err != nil {
			h.t.Errorf("before its end: %v", err)
		}
		h.skew.Store(int64(time.Hour))
		if _, err := identity.Agent(h.t.Context(), h.DB, "Bearer "+first.Secret, ""); !fault.Is(err, fault.Unauthenticated) {
			h.t.Errorf("at its end: %v", err)
		}
		h.agentKey(identity.AgentTerms{Name: "next"}) // the ended ones do not count
		h.must(func(ctx context.Context, tx *db.Tx) error {
			keys, err := identity.AgentKeys(ctx, tx, h.workspace)
			for _, k := range keys {
				if k.Ended(tx.Time()) != (k.ExpiresAt != nil) {
					h.t.Errorf("%s ends at %v", k.Name, k.ExpiresAt)
				}
			}
			return err
		})
	})
}

func TestAnAgentKeyHasItsScopesAtItsResourcesOnly(t *testing.T) {
	t.Parallel()
	each(t, func(h service) {
		key := h.agentKey(identity.AgentTerms{Name: "reads", Scopes: identity.Scopes{identity.ScopeRead}, Resources: []string{"https://a.example", "https://a.example/mcp"}})
		for resource, good := range map[string]bool{
			"https://a.example": true, "https://a.example/mcp": true, "": false, "https://a.example/": false, "https://b.example": false, "https://a.example https://a.example/mcp": false,
		} {
			p, err := identity.Agent(h.t.Context(), h.DB, "Bearer "+key.Secret, resource)
			if good != (err == nil) || (!good && !fault.Is(err, fault.Unauthenticated)) {
				h.t.Errorf("at %q: %v", resource, err)
			}
			if good && (p.Require(identity.ScopeRead) != nil || !fault.Is(p.Require(identity.ScopeSpend), fault.InsufficientScope)) {
				h.t.Errorf("at %q it has %v", resource, p.Scopes)
			}
		}
	})
}
