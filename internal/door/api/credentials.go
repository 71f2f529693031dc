package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/identity"
)

// Names of the security schemes in the OpenAPI document: the three credential
// systems of spec 5. An operation's Security names those its middleware takes.
const (
	accountScheme = "accountKey"
	agentScheme   = "agentKey"
	sessionScheme = "session"
)

func securitySchemes() map[string]*huma.SecurityScheme {
	return map[string]*huma.SecurityScheme{
		accountScheme: {Type: "http", Scheme: "bearer", Description: "Account API key, svc_…"},
		agentScheme:   {Type: "http", Scheme: "bearer", Description: "Job API agent key, svc_agent_…"},
		sessionScheme: {Type: "apiKey", In: "cookie", Name: contract.SessionCookie, Description: "Browser session"},
	}
}

type contextKey int

const (
	principalKey contextKey = iota
	requestIDKey
)

// callerOf is who a request is from. A route without a credential has nobody.
func callerOf(ctx context.Context) identity.Principal {
	return ctx.Value(principalKey).(identity.Principal)
}

func requestIDOf(ctx context.Context) string {
	s, _ := ctx.Value(requestIDKey).(string)
	return s
}

// noted keeps the request id where handlers find it.
func noted(ctx huma.Context, next func(huma.Context)) {
	_, w := humago.Unwrap(ctx)
	next(huma.WithValue(ctx, requestIDKey, w.Header().Get(fault.RequestIDHeader)))
}

// middleware is what huma runs before a handler.
type middleware = func(huma.Context, func(huma.Context))

// ownPages lets everybody in who does not come from another site's page.
func (s *server) ownPages() middleware {
	return func(ctx huma.Context, next func(huma.Context)) {
		r, _ := humago.Unwrap(ctx)
		if err := s.ownPage(r); err != nil {
			fail(ctx, err)
			return
		}
		next(ctx)
	}
}

// accountOnly lets account keys in.
func (s *server) accountOnly() middleware { return s.authenticated(s.accountKey) }

// agentOnly lets agent keys in.
func (s *server) agentOnly() middleware { return s.authenticated(s.agentKey) }

// sessionOnly lets the browser's session in, from our own pages.
func (s *server) sessionOnly() middleware { return s.authenticated(s.session) }

// agentOrSession lets agent keys in, and the browser's session (the
// inspect-then-start path of spec 5).
func (s *server) agentOrSession() middleware {
	return s.authenticated(func(r *http.Request) (identity.Principal, error) {
		if bySession(r) {
			return s.session(r)
		}
		return s.agentKey(r)
	})
}

// accountOrSession lets account keys in, and the browser's session.
func (s *server) accountOrSession() middleware {
	return s.authenticated(func(r *http.Request) (identity.Principal, error) {
		if bySession(r) {
			return s.session(r)
		}
		return s.accountKey(r)
	})
}

// anyCredential lets account keys, agent keys and the browser's session in:
// each sees its own workspace's.
func (s *server) anyCredential() middleware {
	return s.authenticated(func(r *http.Request) (identity.Principal, error) {
		switch {
		case bySession(r):
			return s.session(r)
		case strings.Contains(r.Header.Get("Authorization"), contract.AgentKeyPrefix):
			return s.agentKey(r)
		}
		return s.accountKey(r)
	})
}

// bySession says whether a request stands on its cookie: a key, where there is
// one, goes first.
func bySession(r *http.Request) bool {
	_, err := r.Cookie(contract.SessionCookie)
	return err == nil && r.Header.Get("Authorization") == ""
}

func (s *server) accountKey(r *http.Request) (identity.Principal, error) {
	return identity.Account(r.Context(), s.DB, r.Header.Get("Authorization"))
}

func (s *server) agentKey(r *http.Request) (identity.Principal, error) {
	return identity.Agent(r.Context(), s.DB, r.Header.Get("Authorization"))
}

func (s *server) session(r *http.Request) (identity.Principal, error) {
	token, err := identity.SessionToken(r)
	if err != nil {
		return identity.Principal{}, err
	}
	if err := s.ownPage(r); err != nil {
		return identity.Principal{}, err
	}
	return identity.Session(r.Context(), s.DB, token)
}

// ownPage refuses what another site's page asks for in the person's name.
func (s *server) ownPage(r *http.Request) error {
	asked := *r
	asked.Method = http.MethodPost // the check lets every GET pass; here reads are refused too
	if err := s.cross.Check(&asked); err != nil {
		return fault.New(fault.CrossOriginRefused, "A session is good on this service's own pages only.").Wrap(err)
	}
	return nil
}

// authenticated refuses a request, before its body is read, unless who knows
// whom it is from, and that it may read.
func (s *server) authenticated(who func(*http.Request) (identity.Principal, error)) middleware {
	return func(ctx huma.Context, next func(huma.Context)) {
		r, _ := humago.Unwrap(ctx)
		p, err := who(r)
		if err == nil {
			err = p.Require(identity.ScopeRead)
		}
		if err != nil {
			fail(ctx, err)
			return
		}
		identity.RecordWorkspace(ctx.Context(), p.WorkspaceID)
		next(huma.WithValue(ctx, principalKey, p))
	}
}
