package api

import (
	"context"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"svc.example/internal/contract"
	"svc.example/internal/fault"
	"svc.example/internal/identity"
)

var bodyType = reflect.TypeFor[fault.Body]()

// Names of the security schemes in the OpenAPI document.
const (
	agentScheme   = "agentKey"
	sessionScheme = "session"
)

// caller is who a job route acts for.
type caller struct {
	WorkspaceID string
	KeyID       string // "" for a session
}

type contextKey int

const (
	callerKey contextKey = iota
	requestIDKey
)

func callerOf(ctx context.Context) caller { return ctx.Value(callerKey).(caller) }

func requestIDOf(ctx context.Context) string {
	s, _ := ctx.Value(requestIDKey).(string)
	return s
}

// noted keeps the request id where handlers find it.
func noted(ctx huma.Context, next func(huma.Context)) {
	_, w := humago.Unwrap(ctx)
	next(huma.WithValue(ctx, requestIDKey, w.Header().Get(fault.RequestIDHeader)))
}

// agentOnly lets agent keys in.
func (s *server) agentOnly(api huma.API) func(huma.Context, func(huma.Context)) {
	return s.authenticated(api, func(r *http.Request) (caller, error) {
		key, err := identity.Agent(r.Context(), s.DB, r.Header.Get("Authorization"))
		return caller{key.WorkspaceID, key.KeyID}, err
	})
}

// agentOrSession lets agent keys in, and the browser's session from our own
// pages (the inspect-then-start path of spec 5).
func (s *server) agentOrSession(api huma.API) func(huma.Context, func(huma.Context)) {
	return s.authenticated(api, func(r *http.Request) (caller, error) {
		cookie, err := r.Cookie(contract.SessionCookie)
		if r.Header.Get("Authorization") != "" || err != nil {
			key, err := identity.Agent(r.Context(), s.DB, r.Header.Get("Authorization"))
			return caller{key.WorkspaceID, key.KeyID}, err
		}
		if err := s.cross.Check(r); err != nil {
			return caller{}, fault.New(fault.CrossOriginRefused, "A session is good on this service's own pages only.").Because(err)
		}
		person, err := identity.Session(r.Context(), s.DB, cookie.Value)
		return caller{WorkspaceID: person.WorkspaceID}, err
	})
}

func (s *server) authenticated(api huma.API, who func(*http.Request) (caller, error)) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		r, _ := humago.Unwrap(ctx)
		c, err := who(r)
		if err != nil {
			if fault.Of(err) == fault.Internal {
				s.Log.Error("cannot authenticate", "error", err)
			}
			e := envelope(err, requestIDOf(ctx.Context()))
			for name, values := range e.headers {
				ctx.SetHeader(name, values[0])
			}
			_ = huma.WriteErr(api, ctx, e.status, "", e) // it has told on standard error
			return
		}
		next(huma.WithValue(ctx, callerKey, c))
	}
}
