// Package oauth lets a person give a program a part of a workspace: a small OAuth 2.1
// authorization server (decisions 20).
//
// A program sends a person's browser to the consent page (authorize.go), or shows a short
// code that the person types there (device.go). What the person agrees to becomes an agent
// key with an end, and the program gets tokens of that key (token.go). So the lists of keys,
// spending limits, revocation and the end of running requests are those of package identity.
//
// What always holds: PKCE S256 and exact redirect addresses; no program has a secret here,
// but one may sign its requests (assertion.go); a code works once, within a minute; each
// refresh token works once, but for a repetition within a minute, and a later use revokes the
// key; a token works at the resources that it was made for. Secrets are stored as hashes. A
// program's description is read only for a signed-in person, or for a program that holds
// something such a person gave it, through the guard of package outbound. If the operator
// lets programs register automatically (register.go), nothing is stored for them.
//
// The doors have the pages and the form of answers. Start reading at Server.
package oauth

import (
	"slices"
	"strings"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/identity"
)

// How long things live, and how many there may be.
const (
	CodeLife     = time.Minute
	AccessLife   = time.Hour
	DeviceLife   = 15 * time.Minute
	PollInterval = 5 * time.Second
	// RefreshGrace is how long the refresh token that was used last gives the same answer
	// again: programs of several windows refresh at once, and lines break.
	RefreshGrace = 45 * time.Second
	// MaxDevices is how many devices may wait at once.
	MaxDevices = 10000
	// DefaultLimitCents and DefaultDays fill the consent page.
	DefaultLimitCents = 1000
	DefaultDays       = 90
	MaxDays           = 365

	// keptAfterEnd is how long a used code is remembered, so that a second use revokes.
	keptAfterEnd  = time.Hour
	maxParameter  = 2048 // bytes of a parameter
	refreshPrefix = "svc_refresh_"
)

// Server is the authorization server. It is safe for concurrent use.
type Server struct {
	DB      *db.DB
	Links   links.Links
	Clients *Clients
}

// Issuer is the identifier of this server (RFC 8414, RFC 9207).
func (s *Server) Issuer() string { return s.Links.PublicURL }

// Error is an error in the form of RFC 6749 5.2, for a program.
type Error struct{ Code, Description string }

func (e *Error) Error() string { return e.Code + ": " + e.Description }

// Codes of errors.
const (
	InvalidRequest       = "invalid_request"
	InvalidClient        = "invalid_client"
	InvalidGrant         = "invalid_grant"
	InvalidScope         = "invalid_scope"
	InvalidTarget        = "invalid_target"
	AccessDenied         = "access_denied"
	UnsupportedGrant     = "unsupported_grant_type"
	UnsupportedResponse  = "unsupported_response_type"
	AuthorizationPending = "authorization_pending"
	SlowDown             = "slow_down"
	ExpiredToken         = "expired_token"
	InvalidRedirect      = "invalid_redirect_uri"    // RFC 7591 3.2.2
	InvalidMetadata      = "invalid_client_metadata" // RFC 7591 3.2.2
)

func wrong(code, description string) error { return &Error{code, description} }

// single returns a parameter that may be there once. Error: invalid_request.
func single(values map[string][]string, name string) (string, error) {
	all := values[name]
	switch {
	case len(all) == 0:
		return "", nil
	case len(all) > 1:
		return "", wrong(InvalidRequest, name+" is there more than once")
	case len(all[0]) > maxParameter:
		return "", wrong(InvalidRequest, name+" is too long")
	}
	return all[0], nil
}

// OfflineAccess is a scope that programs ask for where they want a refresh token. Every
// program gets one here, so it adds nothing.
const OfflineAccess = "offline_access"

// scopesOf reads the parameter scope. Reading comes with spending: a program that cannot
// read cannot use the tools. Scopes that this service does not have are ignored, since
// programs ask many services for the same ones; none of its own asks for both.
func scopesOf(text string) identity.Scopes {
	words := strings.Fields(text)
	if slices.Contains(words, string(identity.ScopeRead)) && !slices.Contains(words, string(identity.ScopeSpend)) {
		return identity.Scopes{identity.ScopeRead}
	}
	return identity.AllScopes()
}

// Resources are the addresses for which tokens are made: the tools for agents, and the HTTP
// API.
func (s *Server) Resources() []string {
	return []string{s.Links.To(links.AgentPath), s.Links.PublicURL}
}

// resourcesOf reads the parameter resource (RFC 8707), which may be there more than once;
// none asks for the tools for agents. Error: invalid_target.
func (s *Server) resourcesOf(asked []string) ([]string, error) {
	if len(asked) == 0 {
		return s.Resources()[:1], nil
	}
	var all []string
	for _, r := range s.Resources() {
		if slices.ContainsFunc(asked, func(a string) bool { return strings.TrimSuffix(a, "/") == r }) {
			all = append(all, r)
		}
	}
	for _, a := range asked {
		if !slices.Contains(all, strings.TrimSuffix(a, "/")) {
			return nil, wrong(InvalidTarget, "the resources of this service are "+strings.Join(s.Resources(), " and "))
		}
	}
	return all, nil
}
