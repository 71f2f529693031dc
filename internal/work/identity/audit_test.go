package identity_test

import (
	"context"
	"slices"
	"testing"

	"svc.example/internal/ground/db"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/identity"
)

// TestAuditSeesWhoWasChanged: whose a key or a session is cannot be derived from anything
// else in the store.
func TestAuditSeesWhoWasChanged(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		ctx := t.Context()
		d := dbtest.Open(t, db.Config{URL: url})
		err := d.Write(ctx, func(tx *db.Tx) error { return everyone(ctx, tx) })
		if err != nil {
			t.Fatal(err)
		}
		audit := func(tx *db.Tx) (breaches int, err error) {
			err = identity.Audit(ctx, tx, func(string, string, string, ...any) { breaches++ })
			return breaches, err
		}
		if err := d.Read(ctx, func(tx *db.Tx) error {
			n, err := audit(tx)
			if n > 0 {
				t.Errorf("an unharmed store has %d breaches", n)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		unseen := dbtest.Unseen(t, url, audit, "workspace", "person", "person_login", "account_key", "agent_key", "node_key", "session", "sign_in_link")
		// A last use may be at any time since the key was made. Here it is in 1970, which is seen.
		if len(unseen) > 0 {
			t.Errorf("the audit does not see damage of %v", slices.Compact(unseen))
		}
	})
}

// everyone makes a row of each table, in the ways in which rows are made and changed.
func everyone(ctx context.Context, tx *db.Tx) error {
	link, err := identity.CreateSignInLink(ctx, tx, "one@example.com")
	if err != nil {
		return err
	}
	used, err := identity.SignIn(ctx, tx, link, "")
	if err != nil {
		return err
	}
	if _, err := (identity.Domains{}).SignIn(ctx, tx, identity.Login{Issuer: "https://id.example.com", Subject: "1", Email: "two@example.com", EmailVerified: true}, ""); err != nil {
		return err
	}
	workspace := used.Person.WorkspaceID
	if err := identity.SetProofPages(ctx, tx, workspace, false); err != nil {
		return err
	}
	limit := int64(100)
	for range 2 {
		account, err := identity.CreateAccountKey(ctx, tx, workspace, "account")
		if err != nil {
			return err
		}
		agent, err := identity.CreateAgentKey(ctx, tx, workspace, identity.AgentTerms{Name: "agent", SpendLimitCents: &limit})
		if err != nil {
			return err
		}
		node, err := identity.CreateNodeKey(ctx, tx, "node")
		if err != nil {
			return err
		}
		for _, keyID := range []string{account.KeyID, agent.KeyID, node.KeyID} {
			if err := identity.Revoke(ctx, tx, keyID); err != nil {
				return err
			}
		}
	}
	for _, revoke := range []func() error{
		func() error {
			key, err := identity.CreateAccountKey(ctx, tx, workspace, "account")
			if err != nil {
				return err
			}
			return identity.RevokeAccountKey(ctx, tx, workspace, key.KeyID)
		},
		func() error {
			key, err := identity.CreateAgentKey(ctx, tx, workspace, identity.AgentTerms{Name: "agent"})
			if err != nil {
				return err
			}
			return identity.RevokeAgentKey(ctx, tx, workspace, key.KeyID)
		},
	} {
		if err := revoke(); err != nil {
			return err
		}
	}
	for range 2 {
		if _, err := identity.ReplaceNodeKey(ctx, tx, "embedded"); err != nil {
			return err
		}
	}
	return nil
}
