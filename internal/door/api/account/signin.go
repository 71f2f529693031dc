package account

import (
	"context"
	"net/http"
	"net/url"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"svc.example/internal/door/api/operation"
	"svc.example/internal/front"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/identity"
)

// sessionBody says who is signed in.
type sessionBody struct {
	OK          bool   `json:"ok" enum:"true"`
	Email       string `json:"email"`
	WorkspaceID string `json:"workspace_id"`
}

type askLinkInput struct {
	Body struct {
		Email string `json:"email" format:"email" maxLength:"254" example:"you@example.com"`
	}
}

// showLinkInput is a sign-in link as a browser opens it.
type showLinkInput struct {
	Accept string `header:"Accept" hidden:"true"`
	Token  string `query:"token" required:"true"`
}

// openLinkInput is the form of the page that the link opens. Session is the
// browser's previous session, which ends.
type openLinkInput struct {
	Accept  string `header:"Accept" hidden:"true"`
	Session string `cookie:"svc_session" hidden:"true"`
	RawBody []byte `contentType:"application/x-www-form-urlencoded"`
}

// sessionInput is the session that ends.
type sessionInput struct {
	Session string `cookie:"svc_session" hidden:"true"`
}

type okOutput struct {
	Body struct {
		OK bool `json:"ok" enum:"true"`
	}
}

type signOutOutput struct {
	SetCookie http.Cookie `header:"Set-Cookie"`
	Body      struct {
		OK bool `json:"ok" enum:"true"`
	}
}

// signIn registers the routes of a browser's session (spec 5, decisions 3).
func (s *Server) signIn(api huma.API) {
	op := func(id, method, path, summary string, checks ...operation.Middleware) huma.Operation {
		return huma.Operation{
			OperationID: id, Method: method, Path: path, Tags: []string{"Session"}, Summary: summary, MaxBodyBytes: contract.MaxJSONBodyBytes,
			Middlewares: append(huma.Middlewares{operation.KeepRequestID}, checks...),
		}
	}
	sameOrigin, signedIn := s.Guard.SameOrigin(), s.Guard.Session()

	ask := op("askForLink", http.MethodPost, "/v1/auth/link", "Have a one-time link sent to an address", sameOrigin)
	ask.DefaultStatus = http.StatusAccepted
	ask.Description = "Always answers 202, and so tells nobody which addresses are known. An address gets 3 links in 15 minutes at most; each works once, for 15 minutes."
	huma.Register(api, ask, s.askForLink)

	show := op("showLink", http.MethodGet, links.SignInPath, "The page that a one-time link opens")
	show.Description = "A page with one button, which opens the session: to look at a link does not use it up."
	show.Responses = pageResponse("The page")
	show.Responses["400"] = &huma.Response{Content: map[string]*huma.MediaType{"text/html": htmlContent()}}
	show.SkipValidateParams = true // the handler answers a missing token with a page
	huma.Register(api, show, s.showLink)

	use := op("signIn", http.MethodPost, links.SignInPath, "Open a session by a one-time link", sameOrigin)
	use.Description = "Takes the form field `token`, once. Answers with a page if the request accepts text/html, otherwise with JSON."
	use.Responses = signedInResponses(api, http.StatusBadRequest)
	huma.Register(api, use, s.useLink)
	// huma describes a raw body without its fields.
	api.OpenAPI().Paths[use.Path].Post.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
		"application/x-www-form-urlencoded": {Schema: &huma.Schema{
			Type: huma.TypeObject, Required: []string{"token"}, Properties: map[string]*huma.Schema{"token": {Type: huma.TypeString, Description: "From the link."}},
		}},
	}}

	who := op("getSession", http.MethodGet, "/v1/auth/session", "Who is signed in", signedIn)
	who.Security = []map[string][]string{{operation.SessionScheme: {}}}
	huma.Register(api, who, func(ctx context.Context, _ *struct{}) (*operation.Private[sessionBody], error) {
		c := operation.Caller(ctx)
		return operation.NoStore(sessionBody{true, c.Credential.Email, c.WorkspaceID}, nil)
	})

	out := op("signOut", http.MethodPost, "/v1/auth/sign-out", "End the session", signedIn)
	out.Security = who.Security
	huma.Register(api, out, func(ctx context.Context, in *sessionInput) (*signOutOutput, error) {
		out := &signOutOutput{SetCookie: identity.ClearedCookie(s.Links.PublicURL)}
		out.Body.OK = true
		return out, s.DB.Write(ctx, func(tx *db.Tx) error { return identity.SignOut(ctx, tx, in.Session) })
	})
}

// askForLink requests a link by mail. The answer is the same for every address,
// so it does not reveal whether an account exists.
func (s *Server) askForLink(ctx context.Context, in *askLinkInput) (*okOutput, error) {
	out := &okOutput{}
	out.Body.OK = true
	return out, s.DB.Write(ctx, func(tx *db.Tx) error { return identity.RequestLink(ctx, tx, in.Body.Email) })
}

// showLink shows the page with the button. It does not use the link up:
// programs that scan mail open links, too. The page names the account, so that
// a person is not signed in to another's account by that person's link. Errors:
// link_invalid.
func (s *Server) showLink(ctx context.Context, in *showLinkInput) (*huma.StreamResponse, error) {
	if in.Token == "" {
		return nil, fault.New(fault.LinkInvalid, "This sign-in link is incomplete: its token is missing.")
	}
	var email string
	err := s.DB.Read(ctx, func(tx *db.Tx) (err error) {
		email, err = identity.LinkAddress(ctx, tx, in.Token)
		return err
	})
	if err != nil {
		return nil, err
	}
	return answeredBy(func(w http.ResponseWriter, r *http.Request) error {
		return s.Pages.ConfirmSignIn(w, r, email, in.Token)
	}), nil
}

// useLink uses the link and opens a session. Errors: link_invalid,
// invalid_request.
func (s *Server) useLink(ctx context.Context, in *openLinkInput) (*huma.StreamResponse, error) {
	form, err := url.ParseQuery(string(in.RawBody))
	if err != nil {
		return nil, fault.New(fault.InvalidRequest, "The form is malformed.").Wrap(err)
	}
	var opened identity.Opened
	err = s.DB.Write(ctx, func(tx *db.Tx) (err error) {
		opened, err = identity.SignIn(ctx, tx, form.Get("token"), in.Session)
		return err
	})
	return s.signedIn(in.Accept, opened, err)
}

// signedIn ends a sign-in: a browser gets a page, a program gets JSON, and both
// get the session's cookie and the given ones.
func (s *Server) signedIn(accept string, opened identity.Opened, err error, cookies ...http.Cookie) (*huma.StreamResponse, error) {
	if err != nil {
		return nil, err
	}
	cookies = append(cookies, identity.SessionCookie(s.Links.PublicURL, opened.Token, opened.Expires))
	if front.AcceptsHTML(accept) {
		return answeredBy(func(w http.ResponseWriter, r *http.Request) error { return s.Pages.SignedIn(w, r, opened.Person.Email) }, cookies...), nil
	}
	return answeredBy(func(w http.ResponseWriter, _ *http.Request) error {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		// A failed write means the caller is gone.
		_ = operation.Marshal(w, sessionBody{true, opened.Person.Email, opened.Person.WorkspaceID})
		return nil
	}, cookies...), nil
}

// answeredBy returns an answer that sets cookies and is otherwise written by
// write.
func answeredBy(write front.Handler, cookies ...http.Cookie) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		r, w := humago.Unwrap(ctx)
		for _, c := range cookies {
			http.SetCookie(w, &c)
		}
		if err := write(w, r); err != nil {
			operation.Fail(ctx, err)
		}
	}}
}

// htmlContent describes a page.
func htmlContent() *huma.MediaType {
	return &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
}

// pageResponse describes a 200 that is a page.
func pageResponse(what string) map[string]*huma.Response {
	return map[string]*huma.Response{"200": {Description: what, Content: map[string]*huma.MediaType{"text/html": htmlContent()}}}
}

// signedInResponses describes the end of a sign-in, as a page and as JSON: 200,
// and the statuses that refuse it. Package document adds the JSON of the
// latter.
func signedInResponses(api huma.API, refused ...int) map[string]*huma.Response {
	out := map[string]*huma.Response{"200": {Description: "The session is open", Content: map[string]*huma.MediaType{
		"text/html": htmlContent(), "application/json": {Schema: api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[sessionBody](), true, "SessionBody")},
	}}}
	for _, status := range refused { // package document describes the JSON
		out[strconv.Itoa(status)] = &huma.Response{Content: map[string]*huma.MediaType{"text/html": htmlContent()}}
	}
	return out
}
