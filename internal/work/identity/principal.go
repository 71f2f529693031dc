package identity

import (
	"slices"

	"svc.example/internal/ground/fault"
)

// Principal is the caller of a request. A door makes one of a credential, once. The
// packages behind it check the Principal and never read the credential again.
type Principal struct {
	WorkspaceID string
	Credential  Credential
	Scopes      Scopes
	// SpendLimitCents bounds the credential's spending in a calendar month (UTC); nil
	// leaves the wallet as the only bound.
	SpendLimitCents *int64
}

// Credential identifies what the caller authenticated with. It holds no secret.
type Credential struct {
	Kind CredentialKind
	// KeyID is the key's id; "" for a session.
	KeyID string
	// Email is the address of a session's person; "" for a key.
	Email string
}

// CredentialKind is one of the credential systems of spec 5.
type CredentialKind string

// Kinds of credentials.
const (
	AccountCredential CredentialKind = "account_key"
	AgentCredential   CredentialKind = "agent_key"
	SessionCredential CredentialKind = "session"
)

// Scope is one thing that a principal may do.
type Scope string

// Scopes. Today every credential of a workspace has both. Tokens that agents get by
// OAuth may have fewer.
const (
	ScopeRead  Scope = "render:read"
	ScopeSpend Scope = "render:spend"
)

// Scopes is what a principal may do.
type Scopes []Scope

// AllScopes is what a workspace's own keys and sessions may do.
func AllScopes() Scopes { return Scopes{ScopeRead, ScopeSpend} }

// Has reports whether s allows what scope names.
func (s Scopes) Has(scope Scope) bool { return slices.Contains(s, scope) }

// Require refuses a principal that lacks a scope. Errors: insufficient_scope.
func (p Principal) Require(scope Scope) error {
	if p.Scopes.Has(scope) {
		return nil
	}
	return fault.New(fault.InsufficientScope, "This credential lacks the scope %s.", scope)
}
