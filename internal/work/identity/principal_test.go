package identity_test

import (
	"testing"

	"svc.example/internal/ground/fault"
	"svc.example/internal/work/identity"
)

func TestPrincipalMayDoOnlyWhatItsScopesAllow(t *testing.T) {
	t.Parallel()
	reader := identity.Principal{WorkspaceID: "WSP-1", Scopes: identity.Scopes{identity.ScopeRead}}
	if err := reader.Require(identity.ScopeRead); err != nil {
		t.Errorf("reading is refused: %v", err)
	}
	err := reader.Require(identity.ScopeSpend)
	if status, body := fault.Envelope(err, ""); status != 403 || body.Error.Code != fault.InsufficientScope || body.Error.Retryable {
		t.Errorf("spending without the scope is answered %d, %v", status, err)
	}
	if err := (identity.Principal{}).Require(identity.ScopeRead); err == nil {
		t.Error("a principal without scopes may read")
	}
	for _, scope := range []identity.Scope{identity.ScopeRead, identity.ScopeSpend} {
		if err := (identity.Principal{Scopes: identity.AllScopes()}).Require(scope); err != nil {
			t.Errorf("%s: %v", scope, err)
		}
	}
}
