package operation

import (
	"context"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/identity/inflight"
)

// Names of the security schemes in the OpenAPI document: the three credential
// systems of spec 5. An operation's Security names those that its guard
// accepts; a test compares the two.
const (
	AccountScheme = "accountKey"
	AgentScheme   = "agentKey"
	SessionScheme = "session"
)

// SecuritySchemes describes the three credential systems for the document.
func SecuritySchemes() map[string]*huma.SecurityScheme {
	return map[string]*huma.SecurityScheme{
		AccountScheme: {Type: "http", Scheme: "bearer", Description: "Account API key, svc_…"},
		AgentScheme:   {Type: "http", Scheme: "bearer", Description: "Job API agent key, svc_agent_…"},
		SessionScheme: {Type: "apiKey", In: "cookie", Name: contract.SessionCookie, Description: "Browser session; over https the name begins with " + contract.HostCookiePrefix},
	}
}

// Middleware is what huma runs before a handler. One that refuses calls Fail
// and does not call the next.
type Middleware = func(huma.Context, func(huma.Context))

// contextKey keeps this package's values apart from others in a context.
type contextKey int

const (
	principalKey contextKey = iota
	requestIDKey
)

// Caller returns the principal of the request. It panics in an operation
// without a guard: such a route would otherwise act for the empty workspace.
func Caller(ctx context.Context) identity.Principal {
	return ctx.Value(principalKey).(identity.Principal)
}

// RequestID returns the id of the request; "" where KeepRequestID did not run.
func RequestID(ctx context.Context) string {
	s, _ := ctx.Value(requestIDKey).(string)
	return s
}

// KeepRequestID is a middleware that stores the request id for RequestID.
// Package front has already set it on the response.
func KeepRequestID(ctx huma.Context, next func(huma.Context)) {
	_, w := humago.Unwrap(ctx)
	next(huma.WithValue(ctx, requestIDKey, w.Header().Get(fault.RequestIDHeader)))
}

// Guard makes the middlewares that check credentials. Each refuses with
// unauthenticated, insufficient_scope or insufficient_role, and with
// cross_origin_refused when a page of another site uses a session. It is safe for concurrent use.
type Guard struct {
	db         *db.DB
	resource   string // what a token for the HTTP API names
	sameOrigin *http.CrossOriginProtection
}

// NewGuard returns the guard of a service at publicURL.
func NewGuard(d *db.DB, publicURL string) *Guard {
	return &Guard{db: d, resource: publicURL, sameOrigin: identity.SameOrigin(publicURL)}
}

// SameOrigin admits every request that no page of another site makes.
func (g *Guard) SameOrigin() Middleware {
	return func(ctx huma.Context, next func(huma.Context)) {
		r, _ := humago.Unwrap(ctx)
		if err := g.checkOrigin(r); err != nil {
			Fail(ctx, err)
			return
		}
		next(ctx)
	}
}

// AccountKey admits account keys.
func (g *Guard) AccountKey() Middleware { return authenticated(g.accountKey) }

// AgentKey admits agent keys.
func (g *Guard) AgentKey() Middleware { return authenticated(g.agentKey) }

// Session admits a browser's session, used from the service's own pages.
func (g *Guard) Session() Middleware { return authenticated(g.session) }

// AgentKeyOrSession admits agent keys and sessions (spec 5: a browser may
// inspect and start).
func (g *Guard) AgentKeyOrSession() Middleware { return authenticated(g.orSession(g.agentKey)) }

// AccountKeyOrSession admits account keys and sessions.
func (g *Guard) AccountKeyOrSession() Middleware { return authenticated(g.orSession(g.accountKey)) }

// AnyCredential admits account keys, agent keys and sessions. The prefix of a
// key chooses its store: an agent key is never looked up among account keys.
func (g *Guard) AnyCredential() Middleware {
	return authenticated(g.orSession(func(r *http.Request) (identity.Principal, error) {
		if strings.Contains(r.Header.Get("Authorization"), contract.AgentKeyPrefix) {
			return g.agentKey(r)
		}
		return g.accountKey(r)
	}))
}

// authenticator returns the principal of a request. Errors: unauthenticated,
// cross_origin_refused.
type authenticator func(*http.Request) (identity.Principal, error)

// orSession tries the session only when no key came: a wrong key must not pass
// because of a cookie next to it.
func (g *Guard) orSession(key authenticator) authenticator {
	return func(r *http.Request) (identity.Principal, error) {
		if _, err := r.Cookie(contract.SessionCookie); err == nil && r.Header.Get("Authorization") == "" {
			return g.session(r)
		}
		return key(r)
	}
}

// accountKey authenticates an account key.
func (g *Guard) accountKey(r *http.Request) (identity.Principal, error) {
	return identity.Account(r.Context(), g.db, r.Header.Get("Authorization"))
}

// agentKey authenticates an agent key.
func (g *Guard) agentKey(r *http.Request) (identity.Principal, error) {
	return identity.Agent(r.Context(), g.db, r.Header.Get("Authorization"), g.resource)
}

// session authenticates a session. It refuses one from another site before the
// database is asked.
func (g *Guard) session(r *http.Request) (identity.Principal, error) {
	token, err := identity.SessionToken(r)
	if err != nil {
		return identity.Principal{}, err
	}
	if err := g.checkOrigin(r); err != nil {
		return identity.Principal{}, err
	}
	return identity.Session(r.Context(), g.db, token)
}

// checkOrigin refuses what a page of another site requests with the person's
// cookie. Errors: cross_origin_refused.
func (g *Guard) checkOrigin(r *http.Request) error {
	// The library admits every GET. Other sites must not read here either, so
	// the check is given a POST.
	asPost := *r
	asPost.Method = http.MethodPost // the library accepts every GET; a read of another site is refused too
	if err := g.sameOrigin.Check(&asPost); err != nil {
		return fault.New(fault.CrossOriginRefused, "A browser session works only on this service's own pages.").Wrap(err)
	}
	return nil
}

// authenticated returns the middleware that runs by. It also notes the
// workspace for the log line of the request.
func authenticated(by authenticator) Middleware {
	return func(ctx huma.Context, next func(huma.Context)) {
		r, _ := humago.Unwrap(ctx)
		caller, err := by(r)
		if err == nil {
			err = caller.Require(identity.ScopeRead)
		}
		if err == nil {
			err = caller.RequireRole(RoleFor(ctx.Operation()))
		}
		if err != nil {
			Fail(ctx, err)
			return
		}
		inflight.RecordWorkspace(ctx.Context(), caller.WorkspaceID)
		next(huma.WithValue(ctx, principalKey, caller))
	}
}
