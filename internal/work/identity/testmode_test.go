package identity_test

import (
	"strings"
	"testing"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/wallet"
)

// TestAKeyOfTestModeIsNoKeyOfTheService makes both kinds, and asks for each in each way.
func TestAKeyOfTestModeIsNoKeyOfTheService(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		var agent, account, paying identity.NewKey
		var workspace string
		err := d.Write(ctx, func(tx *db.Tx) error {
			p, err := identity.CreateWorkspace(ctx, tx, "one@example.com")
			if err != nil {
				return err
			}
			workspace = p.WorkspaceID
			if agent, err = identity.CreateAgentKey(ctx, tx, workspace, identity.AgentTerms{Name: "test", Test: true, SpendLimitCents: new(int64(5))}); err != nil {
				return err
			}
			if paying, err = identity.CreateAgentKey(ctx, tx, workspace, identity.AgentTerms{Name: "real"}); err != nil {
				return err
			}
			account, err = identity.CreateTestAccountKey(ctx, tx, workspace, "test")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(agent.Secret, "svc_agent_test_") || !strings.HasPrefix(account.Secret, "svc_test_") {
			t.Fatalf("the keys are %.20s and %.20s", agent.Secret, account.Secret)
		}
		for _, key := range []identity.NewKey{agent, account} {
			header := "Bearer " + key.Secret
			who, err := identity.TestKey(ctx, d, header)
			if err != nil || who.WorkspaceID != workspace || who.Credential.KeyID != key.KeyID || !identity.IsTestKey(header) {
				t.Errorf("%s opens %+v, %v", key.MaskedPrefix, who, err)
			}
			for _, header := range []string{header, identity.WorldHeader(header)} {
				_, asAgent := identity.Agent(ctx, d, header, "")
				_, asAccount := identity.Account(ctx, d, header)
				_, asNode := identity.Node(ctx, d, header)
				for kind, err := range map[string]error{"agent": asAgent, "account": asAccount, "node": asNode} {
					if !fault.Is(err, fault.Unauthenticated) {
						t.Errorf("%s is a real key of kind %s: %v", key.MaskedPrefix, kind, err)
					}
				}
			}
		}
		if header := "Bearer " + paying.Secret; identity.IsTestKey(header) {
			t.Error("a real key looks like one of test mode")
		}
		err = d.Read(ctx, func(tx *db.Tx) error {
			keys, err := identity.AgentKeys(ctx, tx, workspace)
			for _, k := range keys {
				if k.Test() != (k.Name == "test") {
					t.Errorf("the list says of %s that it is of test mode: %v", k.Name, k.Test())
				}
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
		if err := d.Write(ctx, func(tx *db.Tx) error { return identity.RevokeAgentKey(ctx, tx, workspace, agent.KeyID) }); err != nil {
			t.Fatal(err)
		}
		if _, err := identity.TestKey(ctx, d, "Bearer "+agent.Secret); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("a revoked key: %v", err)
		}
	})
}

// TestAWorldKnowsItsGuestsByAnotherSecret lets one of each kind into a store of its own, twice.
func TestAWorldKnowsItsGuestsByAnotherSecret(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, world *db.DB) {
		ctx := t.Context()
		limit := int64(7)
		workspace := "WSP-" + strings.Repeat("a", 32)
		random := strings.Repeat("x", contract.KeySecretLength)
		guest := func(kind identity.CredentialKind, keyID, secret string) identity.Guest {
			return identity.Guest{Secret: secret, Principal: identity.Principal{
				WorkspaceID: workspace, Credential: identity.Credential{Kind: kind, KeyID: keyID, Email: "one@example.com"}, Scopes: identity.AllScopes(), SpendLimitCents: &limit,
			}}
		}
		for range 2 {
			for _, g := range []identity.Guest{
				guest(identity.AgentCredential, "key_1", "svc_agent_"+random), guest(identity.AccountCredential, "key_2", "svc_"+random), guest(identity.SessionCredential, "", "token"),
			} {
				if err := world.Write(ctx, func(tx *db.Tx) error { return identity.Enter(ctx, tx, g) }); err != nil {
					t.Fatal(err)
				}
			}
		}
		agent, err := identity.Agent(ctx, world, identity.WorldHeader("Bearer svc_agent_test_"+random), "anything")
		if err != nil || agent.Credential.KeyID != "key_1" || agent.WorkspaceID != workspace || *agent.SpendLimitCents != limit {
			t.Errorf("the agent key opens %+v, %v", agent, err)
		}
		account, err := identity.Account(ctx, world, identity.WorldHeader("Bearer svc_test_"+random))
		if err != nil || account.Credential.KeyID != "key_2" || account.WorkspaceID != workspace {
			t.Errorf("the account key opens %+v, %v", account, err)
		}
		person, err := identity.Session(ctx, world, "token")
		if err != nil || person.WorkspaceID != workspace || person.Credential.Email != "one@example.com" || person.Operator {
			t.Errorf("the session opens %+v, %v", person, err)
		}
		err = world.Read(ctx, func(tx *db.Tx) error {
			breach := func(rule, subject, format string, args ...any) {
				t.Errorf("breach of %q at %s: "+format, append([]any{rule, subject}, args...)...)
			}
			if b, err := wallet.Get(ctx, tx, workspace); err != nil || b.AvailableCents != 0 {
				t.Errorf("the wallet has %+v, %v", b, err)
			}
			return identity.Audit(ctx, tx, breach)
		})
		if err != nil {
			t.Error(err)
		}
		if err := world.Write(ctx, func(tx *db.Tx) error { return identity.Enter(ctx, tx, guest("", "", "")) }); err == nil {
			t.Error("no caller is let in")
		}
	})
}
