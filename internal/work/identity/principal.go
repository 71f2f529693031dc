// Package identity holds workspaces, people and their credentials.
//
// Four kinds of key live in four tables: account keys, agent keys, node keys and operator
// keys. None can stand in for another (spec 5). A person's browser session is the fifth
// credential. The caller with an account key, an agent key or a session is a Principal; a
// worker is identified by its NodeKey, a program that operates the service by its
// OperatorKey.
//
// What always holds: a secret has at least 256 random bits and is stored only as its
// SHA-256. The call that makes it returns it, and no other call does. A revoked or
// unknown secret is unauthenticated from the next call on, in every process, because
// nothing is cached; package inflight ends the requests that run.
//
// Other packages decide what a principal may do. Start reading at Principal, then at
// Agent.
package identity

import (
	"cmp"
	"slices"
	"strings"

	"svc.example/internal/ground/fault"
)

// Principal is the caller of a request. A door makes one of a credential, once. The
// packages below it check the Principal and never read the credential again. The zero
// Principal has no workspace and no scopes, and may do nothing.
type Principal struct {
	WorkspaceID string
	Credential  Credential
	Scopes      Scopes
	// SpendLimitCents bounds the credential's spending in a calendar month (UTC); nil
	// leaves the wallet as the only bound.
	SpendLimitCents *int64
	// Role is what the person of a session may do in the workspace; "" for a key.
	Role Role
	// Operator says that the person of a session operates the service. No key does.
	Operator bool
}

// Credential identifies what the caller authenticated with. It holds no secret.
type Credential struct {
	Kind CredentialKind
	// KeyID is the key's id; "" for a session.
	KeyID string
	// Email is the address of a session's person, and PersonID their id; "" for a key.
	Email, PersonID string
	// MadeBy is the id of the person who made the key; "" for an operator's key and a session.
	MadeBy string
}

// Person is the id of the person who acts, or whose key does; "" for an operator's key.
func (c Credential) Person() string { return cmp.Or(c.PersonID, c.MadeBy) }

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

// Scopes. An agent key can have one of them; every other credential of a workspace has
// both.
const (
	ScopeRead  Scope = "render:read"
	ScopeSpend Scope = "render:spend"
)

// Scopes is what a principal may do.
type Scopes []Scope

// AllScopes is what a workspace's own keys and sessions may do.
func AllScopes() Scopes { return Scopes{ScopeRead, ScopeSpend} }

// String is the scopes in the form that tokens and the store use: separated by spaces.
func (s Scopes) String() string {
	words := make([]string, len(s))
	for i, scope := range s {
		words[i] = string(scope)
	}
	return strings.Join(words, " ")
}

// scopesOf reads what String wrote; "" is AllScopes.
func scopesOf(text string) Scopes {
	if text == "" {
		return AllScopes()
	}
	var s Scopes
	for _, word := range strings.Fields(text) {
		s = append(s, Scope(word))
	}
	return s
}

// Has reports whether s allows what scope names. No scope includes another: a
// credential that may spend but not read must name only the one.
func (s Scopes) Has(scope Scope) bool { return slices.Contains(s, scope) }

// Require refuses a principal without a scope. The check belongs to the work that
// the scope protects, not to the door, so that no second door can forget it. Errors:
// insufficient_scope.
func (p Principal) Require(scope Scope) error {
	if p.Scopes.Has(scope) {
		return nil
	}
	needs := Scopes{ScopeRead}
	if scope != ScopeRead {
		needs = AllScopes()
	}
	return fault.New(fault.InsufficientScope, "This credential lacks the scope %s.", scope).
		Challenged("error", string(fault.InsufficientScope)).Challenged("scope", needs.String())
}
