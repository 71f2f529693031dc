package account

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"svc.example/internal/door/api/operation"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/identity"
)

const (
	// flowCookie is the cookie that ties a sign-in to the browser that began
	// it.
	flowCookie = "svc_sign_in"
	// flowLife is how long a person may take at the issuer.
	flowLife = 10 * time.Minute
)

// openIDStartOutput redirects to the issuer.
type openIDStartOutput struct {
	Status       int
	Location     string      `header:"Location"`
	SetCookie    http.Cookie `header:"Set-Cookie"`
	CacheControl string      `header:"Cache-Control"`
}

// openIDCallbackInput is what the issuer sends back, with the browser's
// cookies.
type openIDCallbackInput struct {
	Accept  string `header:"Accept" hidden:"true"`
	Session string `cookie:"svc_session" hidden:"true"`
	Flow    string `cookie:"svc_sign_in" hidden:"true"`
	State   string `query:"state"`
	Code    string `query:"code"`
	Refused string `query:"error" doc:"The issuer's reason for refusing."`
}

// openID registers sign-in by an OpenID Connect issuer (decisions 3). The
// routes exist without an issuer as well, and are then not found.
func (s *Server) openID(api huma.API) {
	start := huma.Operation{
		OperationID: "startOpenID", Method: http.MethodGet, Path: links.OpenIDStartPath, Tags: []string{"Session"},
		Summary: "Sign in by the OpenID Connect issuer", Description: "Sends the browser to the issuer; 404 where none is configured.",
		DefaultStatus: http.StatusSeeOther, Middlewares: huma.Middlewares{operation.KeepRequestID},
	}
	huma.Register(api, start, s.startOpenID)
	callback := huma.Operation{
		OperationID: "finishOpenID", Method: http.MethodGet, Path: links.OpenIDCallbackPath, Tags: []string{"Session"},
		Summary: "Where the issuer sends the browser back to", Description: "Opens the session. Answers with a page if the request accepts text/html, otherwise with JSON.",
		Middlewares: huma.Middlewares{operation.KeepRequestID},
		Responses:   signedInResponses(api, 400, 404, 503),
	}
	huma.Register(api, callback, s.finishOpenID)
}

// noIssuer is the error of a service without an issuer.
func noIssuer() error {
	return fault.New(fault.RouteNotFound, "This service has no OpenID Connect issuer.")
}

// startOpenID sends the browser to the issuer. Errors: route_not_found,
// unavailable.
func (s *Server) startOpenID(ctx context.Context, _ *struct{}) (*openIDStartOutput, error) {
	if s.OpenID == nil {
		return nil, noIssuer()
	}
	address, flow, err := s.OpenID.Start(ctx)
	if err != nil {
		return nil, s.logged(ctx, err)
	}
	return &openIDStartOutput{http.StatusSeeOther, address, s.flowCookie(flow, int(flowLife.Seconds())), "no-store"}, nil
}

// finishOpenID ends a sign-in. The issuer is asked outside the transaction,
// which must not wait for a network.
func (s *Server) finishOpenID(ctx context.Context, in *openIDCallbackInput) (*huma.StreamResponse, error) {
	var opened identity.Opened
	login, err := s.finishLogin(ctx, in)
	if err == nil {
		err = s.DB.Write(ctx, func(tx *db.Tx) (err error) {
			opened, err = s.Domains.SignIn(ctx, tx, login, in.Session)
			return err
		})
	}
	return s.signedIn(in.Accept, opened, err, s.flowCookie("", -1))
}

// finishLogin returns the person that the issuer names. Errors:
// route_not_found, sign_in_failed, unavailable.
func (s *Server) finishLogin(ctx context.Context, in *openIDCallbackInput) (identity.Login, error) {
	switch {
	case s.OpenID == nil:
		return identity.Login{}, noIssuer()
	case in.Refused != "":
		return identity.Login{}, fault.New(fault.SignInFailed, "The issuer did not sign you in.")
	}
	login, err := s.OpenID.Finish(ctx, in.Flow, in.State, in.Code)
	return login, s.logged(ctx, err)
}

// logged logs why the issuer could not be used and returns err. The caller gets
// only the code: the reason can contain details of the configuration.
func (s *Server) logged(ctx context.Context, err error) error {
	if err != nil {
		s.Log.Warn("sign-in by OpenID Connect failed", "request_id", operation.RequestID(ctx), "err", err)
	}
	return err
}

// flowCookie returns the cookie of a sign-in that has begun. SameSite is Lax
// and not Strict, because the issuer's redirect comes from another site. A
// negative maxAge deletes the cookie.
func (s *Server) flowCookie(value string, maxAge int) http.Cookie {
	return http.Cookie{
		Name: flowCookie, Value: value, Path: links.OpenIDPath, MaxAge: maxAge,
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: s.Links.Secure(),
	}
}
