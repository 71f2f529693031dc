package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"svc.example/internal/contract"
	"svc.example/internal/db"
	"svc.example/internal/identity"
)

// CallbackPath is what a sign-in link opens, with ?token=.
const CallbackPath = "/v1/auth/callback"

type sessionBody struct {
	OK          bool   `json:"ok" enum:"true"`
	Email       string `json:"email"`
	WorkspaceID string `json:"workspace_id"`
}

type signInOutput struct {
	SetCookie    http.Cookie `header:"Set-Cookie"`
	CacheControl string      `header:"Cache-Control"`
	Body         sessionBody
}

type sessionOutput struct{ Body sessionBody }

type signOutOutput struct {
	SetCookie http.Cookie `header:"Set-Cookie"`
	Body      struct {
		OK bool `json:"ok" enum:"true"`
	}
}

// signIn registers the routes of a browser's session.
func (s *server) signIn(api huma.API) {
	op := func(id, method, path, summary string) huma.Operation {
		return huma.Operation{OperationID: id, Method: method, Path: path, Tags: []string{"Session"}, Summary: summary,
			Errors: []int{400, 401, 403}, Middlewares: huma.Middlewares{noted}}
	}
	huma.Register(api, op("signIn", http.MethodGet, CallbackPath, "Open a session by a one-time link"),
		handled(s, func(ctx context.Context, in *struct {
			Token string `query:"token" required:"true"`
		}) (*signInOutput, error) {
			out := &signInOutput{CacheControl: "no-store"}
			err := s.DB.Write(ctx, func(tx *db.Tx) error {
				p, session, expires, err := identity.SignIn(ctx, tx, in.Token)
				out.Body = sessionBody{true, p.Email, p.WorkspaceID}
				out.SetCookie = s.cookie(session, expires)
				return err
			})
			return out, err
		}))
	session := op("getSession", http.MethodGet, "/v1/auth/session", "Who is signed in")
	session.Security = []map[string][]string{{sessionScheme: {}}}
	huma.Register(api, session, handled(s, func(ctx context.Context, in *sessionInput) (*sessionOutput, error) {
		p, err := identity.Session(ctx, s.DB, in.Session)
		return &sessionOutput{sessionBody{true, p.Email, p.WorkspaceID}}, err
	}))
	out := op("signOut", http.MethodPost, "/v1/auth/sign-out", "End the session")
	out.Security = session.Security
	out.Middlewares = append(out.Middlewares, s.sameOrigin(api))
	huma.Register(api, out, handled(s, func(ctx context.Context, in *sessionInput) (*signOutOutput, error) {
		if _, err := identity.Session(ctx, s.DB, in.Session); err != nil {
			return nil, err
		}
		out := &signOutOutput{SetCookie: s.cookie("", time.Unix(1, 0))}
		out.Body.OK = true
		return out, s.DB.Write(ctx, func(tx *db.Tx) error { return identity.SignOut(ctx, tx, in.Session) })
	}))
}

type sessionInput struct {
	Session string `cookie:"svc_session"`
}

func (s *server) cookie(value string, expires time.Time) http.Cookie {
	return http.Cookie{
		Name: contract.SessionCookie, Value: value, Path: "/", Expires: expires,
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: strings.HasPrefix(s.PublicURL, "https://"),
	}
}

// sameOrigin refuses a cookie route that another site's page calls.
func (s *server) sameOrigin(api huma.API) func(huma.Context, func(huma.Context)) {
	return s.authenticated(api, func(r *http.Request) (caller, error) {
		return caller{}, s.ownPage(r)
	})
}
