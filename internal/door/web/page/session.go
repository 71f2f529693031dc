package page

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"svc.example/internal/front"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/identity/inflight"
)

// formBytes bounds the body of a form. The largest field is a webhook address
// of 2048 characters.
const formBytes = 64 << 10

// Build builds a page for a person.
type Build = func(r *http.Request, who identity.Principal) (Page, error)

// Admit admits the people of a workspace to one of its pages that everyone may read. Anyone
// else gets the sign-in page with status 401, at the same address. Signing in leads back to
// it.
func (s *Base) Admit(build Build) func(*http.Request) (Page, error) {
	return s.AdmitAs(identity.Viewer, build)
}

// AdmitAs is Admit for people with at least the given role. Error: insufficient_role.
func (s *Base) AdmitAs(least identity.Role, build Build) func(*http.Request) (Page, error) {
	return func(r *http.Request) (Page, error) {
		who, err := s.principal(r)
		var p Page
		if err == nil {
			err = require(who, least)
		}
		if err == nil {
			inflight.RecordWorkspace(r.Context(), who.WorkspaceID)
			p, err = build(r, who)
		}
		if fault.Is(err, fault.Unauthenticated) {
			return s.askToSignIn(r), nil
		}
		if err == nil && p.Location == "" {
			err = s.offerSwitch(r, who, &p)
		}
		s.address(&p, who)
		if !p.NoScript {
			p.Scripts = append([]string{"console.js", "live.js"}, p.Scripts...) // ours hears what htmx says from the first
		}
		return p, err
	}
}

// address makes a page that of a signed-in person.
func (s *Base) address(p *Page, who identity.Principal) {
	p.Private, p.Forms, p.Email, p.Operator, p.Role = true, true, who.Credential.Email, who.Operator, who.Role
	p.Test, p.TestMode = s.Test, s.TestMode
}

// Greet makes a page that everyone may open that of its reader, if the reader is signed in. A
// session that cannot be checked, for whatever reason, counts as none.
func (s *Base) Greet(r *http.Request, p *Page) (who identity.Principal, known bool) {
	who, err := s.principal(r)
	if err == nil {
		err = require(who, identity.Viewer)
	}
	if err == nil {
		err = s.offerSwitch(r, who, p)
	}
	if err != nil {
		return identity.Principal{}, false
	}
	s.address(p, who)
	return who, true
}

// offerSwitch lists the workspaces of a person who is in several.
func (s *Base) offerSwitch(r *http.Request, who identity.Principal, p *Page) error {
	return s.DB.ReadStatement(r.Context(), func(ctx context.Context, tx *db.Tx) error {
		all, err := identity.Memberships(ctx, tx, who.Credential.PersonID)
		if len(all) > 1 {
			p.Workspaces, p.WorkspaceID = all, who.WorkspaceID
		}
		return err
	})
}

// require checks that a person may read and has at least the given role. Errors:
// insufficient_scope, insufficient_role.
func require(who identity.Principal, least identity.Role) error {
	if err := who.Require(identity.ScopeRead); err != nil {
		return err
	}
	return who.RequireRole(least)
}

// principal authenticates the session cookie of a request. Errors:
// unauthenticated.
func (s *Base) principal(r *http.Request) (identity.Principal, error) {
	token, err := identity.SessionToken(r)
	if err != nil {
		return identity.Principal{}, err
	}
	return identity.Session(r.Context(), s.DB, token)
}

// Serve serves something that is not a page to a person.
type Serve = func(w http.ResponseWriter, r *http.Request, who identity.Principal) error

// AdmitRaw admits the people of a workspace to anything that is not a page and that everyone
// may read: a picture, a file, a stream. Anyone else gets an error, or the sign-in page where
// a browser opens the address itself, as a link to a file does. Errors: unauthenticated.
func (s *Base) AdmitRaw(do Serve) http.Handler { return s.AdmitRawAs(identity.Viewer, do) }

// AdmitRawAs is AdmitRaw for people with at least the given role. Errors: unauthenticated,
// insufficient_role.
func (s *Base) AdmitRawAs(least identity.Role, do Serve) http.Handler {
	return s.Errors.Handle(func(w http.ResponseWriter, r *http.Request) error {
		who, err := s.principal(r)
		if err == nil {
			err = require(who, least)
		}
		if fault.Is(err, fault.Unauthenticated) && front.AcceptsHTML(r.Header.Get("Accept")) {
			return s.Show(w, r, s.askToSignIn(r))
		}
		if err != nil {
			return err
		}
		inflight.RecordWorkspace(r.Context(), who.WorkspaceID)
		return do(w, r, who)
	})
}

// Form handles a form of this site for a signed-in person with at least the given role. It reads
// the form before it checks the session, so that a form of another site is refused no matter who
// submits it. Errors: cross_origin_refused, invalid_request, insufficient_role.
func (s *Base) Form(least identity.Role, do Build) func(*http.Request) (Page, error) {
	admitted := s.AdmitAs(least, do)
	return func(r *http.Request) (Page, error) {
		if err := s.ReadForm(r); err != nil {
			return Page{}, err
		}
		return admitted(r)
	}
}

// FormAt serves a form of the page at home. A browser may open the form's address again, such
// as after a refusal that it showed: that leads to the page. The ids in home are those in path.
func (s *Base) FormAt(mux *http.ServeMux, path, home string, least identity.Role, do Build) {
	mux.Handle("POST "+path, s.Page(s.Form(least, do)))
	s.LeadHome(mux, path, home)
}

// LeadHome leads a browser that opens the address of a form to the form's page.
func (s *Base) LeadHome(mux *http.ServeMux, path, home string) {
	mux.Handle("GET "+path, s.Page(func(r *http.Request) (Page, error) {
		return Page{Location: pathID.ReplaceAllStringFunc(home, func(id string) string { return url.PathEscape(r.PathValue(strings.Trim(id, "{}"))) })}, nil
	}))
}

// pathID is the place of an id in the path of a route.
var pathID = regexp.MustCompile(`\{[a-z_]+\}`)

// ReadForm parses a form that one of this site's pages sent. It refuses a form
// from another site, which would otherwise act with the person's cookie, or write in a visitor's
// name.
// Errors: cross_origin_refused, invalid_request.
func (s *Base) ReadForm(r *http.Request) error {
	if err := s.CheckOrigin(r); err != nil {
		return err
	}
	r.Body = http.MaxBytesReader(nil, r.Body, formBytes)
	if err := r.ParseForm(); err != nil {
		return fault.New(fault.InvalidRequest, "The form is malformed.").Wrap(err)
	}
	return nil
}

// CheckOrigin refuses a request that a page of another site makes. Errors:
// cross_origin_refused.
func (s *Base) CheckOrigin(r *http.Request) error {
	if err := s.sameOrigin.Check(r); err != nil {
		return fault.New(fault.CrossOriginRefused, "This form must be sent from this service's own pages.").Wrap(err)
	}
	return nil
}

// SignOut ends the session and clears the cookie. Without a session it
// succeeds: the person wants to be signed out, and is.
func (s *Base) SignOut(r *http.Request) (Page, error) {
	if err := s.ReadForm(r); err != nil {
		return Page{}, err
	}
	p := Page{Location: "/", Cookie: new(identity.ClearedCookie(s.Links.PublicURL))}
	token, err := identity.SessionToken(r)
	if err != nil {
		return p, nil // without a session the person is signed out
	}
	return p, s.DB.Write(r.Context(), func(tx *db.Tx) error { return identity.SignOut(r.Context(), tx, token) })
}
