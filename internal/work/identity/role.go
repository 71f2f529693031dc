package identity

import (
	"slices"

	"svc.example/internal/ground/fault"
)

// Role is what a person may do in a workspace (decisions 32). Each role may do what those
// after it may.
type Role string

// Roles.
const (
	Owner  Role = "owner"  // everything: money, members, keys and settings
	Member Role = "member" // renders: uploads, starts, cancels, tags and shares
	Viewer Role = "viewer" // reads
)

// Roles lists the roles, the one that may do most first.
func Roles() []Role { return []Role{Owner, Member, Viewer} }

// Includes reports whether a role may do what another one may. A word that is no role may
// do nothing, and nothing may do what it may.
func (r Role) Includes(other Role) bool {
	mine, theirs := slices.Index(Roles(), r), slices.Index(Roles(), other)
	return mine >= 0 && theirs >= mine
}

// scopes are those of a session.
func (r Role) scopes() Scopes {
	switch {
	case r.Includes(Member):
		return AllScopes()
	case r.Includes(Viewer):
		return Scopes{ScopeRead}
	}
	return nil
}

// RequireRole refuses a person whose role in the workspace may not do what least may. A key
// has no role: its kind and its scopes say what it may do. Error: insufficient_role.
func (p Principal) RequireRole(least Role) error {
	if p.Credential.Kind == AccountCredential || p.Credential.Kind == AgentCredential || p.Role.Includes(least) {
		return nil
	}
	return insufficientRole(least, p.Role)
}

func insufficientRole(least, is Role) error {
	if is == "" {
		return fault.New(fault.InsufficientRole, "You are not a member of this workspace.")
	}
	return fault.New(fault.InsufficientRole, "This takes the role %s in the workspace. Yours is %s.", least, is)
}
