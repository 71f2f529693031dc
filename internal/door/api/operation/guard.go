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
)

// Names of the security schemes in the OpenAPI document: the three credential
// systems of spec 5. An operation's Security names those that its guard accepts.
const (
	AccountScheme = "accountKey"
	AgentScheme   = "agentKey"
	SessionScheme = "session"
)

// SecuritySchemes describes the three credential systems.
func SecuritySchemes() map[string]*huma.SecurityScheme {
	return map[string]*huma.SecurityScheme{
		AccountScheme: {Type: "http", Scheme: "bearer", Description: "Account API key, svc_…"},
		AgentScheme:   {Type: "http", Scheme: "bearer", Description: "Job API agent key, svc_agent_…"},
		SessionScheme: {Type: "apiKey", In: "cookie", Name: contract.SessionCookie, Description: "Browser session"},
	}
}

// Middleware is what huma runs before a handler.
type Middleware = func(huma.Context, func(huma.Context))

type contextKey int

const (
	principalKey contextKey = iota
	requestIDKey
)

// Caller is who the request acts for. It panics in an operation without a guard.
func Caller(ctx context.Context) identity.Principal {
	return ctx.Value(principalKey).(identity.Principal)
}

// RequestID is the id of the request, "" where KeepRequestID did not run.
func RequestID(ctx context.Context) string {
	s, _ := ctx.Value(requestIDKey).(string)
	return s
}

// KeepRequestID is a middleware that puts the request id where RequestID finds it.
func KeepRequestID(ctx huma.Context, next func(huma.Context)) {
	_, w := humago.Unwrap(ctx)
	next(huma.WithValue(ctx, requestIDKey, w.Header().Get(fault.RequestIDHeader)))
}

// Guard makes the middlewares that check credentials. Each refuses with
// unauthenticated, insufficient_scope, or with cross_origin_refused where another
// site's page uses a session.
type Guard struct {
	db         *db.DB
	sameOrigin *http.CrossOriginProtection
}

// NewGuard makes the guard of a service that is reached at publicURL.
func NewGuard(d *db.DB, publicURL string) *Guard {
	return &Guard{db: d, sameOrigin: identity.SameOrigin(publicURL)}
}

// SameOrigin accepts every request that no other site's page makes.
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

// AccountKey accepts account keys.
func (g *Guard) AccountKey() Middleware { return authenticated(g.accountKey) }

// AgentKey accepts agent keys.
func (g *Guard) AgentKey() Middleware { return authenticated(g.agentKey) }

// Session accepts a browser's session from the service's own pages.
func (g *Guard) Session() Middleware { return authenticated(g.session) }

// AgentKeyOrSession accepts agent keys and sessions (spec 5: a browser may
// inspect and start).
func (g *Guard) AgentKeyOrSession() Middleware { return authenticated(g.orSession(g.agentKey)) }

// AccountKeyOrSession accepts account keys and sessions.
func (g *Guard) AccountKeyOrSession() Middleware { return authenticated(g.orSession(g.accountKey)) }

// AnyCredential accepts account keys, agent keys and sessions.
func (g *Guard) AnyCredential() Middleware {
	return authenticated(g.orSession(func(r *http.Request) (identity.Principal, error) {
		if strings.Contains(r.Header.Get("Authorization"), contract.AgentKeyPrefix) {
			return g.agentKey(r)
		}
		return g.accountKey(r)
	}))
}

// authenticator says who makes a request.
type authenticator func(*http.Request) (identity.Principal, error)

// orSession tries the session only where there is no key: a key that is wrong
// must not pass by the cookie beside it.
func (g *Guard) orSession(key authenticator) authenticator {
	return func(r *http.Request) (identity.Principal, error) {
		if _, err := r.Cookie(contract.SessionCookie); err == nil && r.Header.Get("Authorization") == "" {
			return g.session(r)
		}
		return key(r)
	}
}

func (g *Guard) accountKey(r *http.Request) (identity.Principal, error) {
	return identity.Account(r.Context(), g.db, r.Header.Get("Authorization"))
}

func (g *Guard) agentKey(r *http.Request) (identity.Principal, error) {
	return identity.Agent(r.Context(), g.db, r.Header.Get("Authorization"))
}

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

// checkOrigin refuses what another site's page asks for with the person's cookie.
func (g *Guard) checkOrigin(r *http.Request) error {
	asPost := *r
	asPost.Method = http.MethodPost // the library accepts every GET; a read of another site is refused too
	if err := g.sameOrigin.Check(&asPost); err != nil {
		return fault.New(fault.CrossOriginRefused, "A session is good on this service's own pages only.").Wrap(err)
	}
	return nil
}

func authenticated(by authenticator) Middleware {
	return func(ctx huma.Context, next func(huma.Context)) {
		r, _ := humago.Unwrap(ctx)
		caller, err := by(r)
		if err == nil {
			err = caller.Require(identity.ScopeRead)
		}
		if err != nil {
			Fail(ctx, err)
			return
		}
		identity.RecordWorkspace(ctx.Context(), caller.WorkspaceID)
		next(huma.WithValue(ctx, principalKey, caller))
	}
}
