package web

import (
	"net/http"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/webhook"
)

// formBytes bounds what a form sends.
const formBytes = 64 << 10

// signedIn lets the people of a workspace see its pages, and shows others the way
// to sign in.
func (s *Site) signedIn(build func(r *http.Request, who identity.Principal) (page, error)) func(*http.Request) (page, error) {
	return func(r *http.Request) (page, error) {
		who, err := s.principal(r)
		var p page
		if err == nil {
			err = who.Require(identity.ScopeRead)
		}
		if err == nil {
			identity.RecordWorkspace(r.Context(), who.WorkspaceID)
			p, err = build(r, who)
		}
		if fault.Is(err, fault.Unauthenticated) {
			return s.signIn(http.StatusUnauthorized, signInView{}), nil
		}
		p.Private, p.Forms, p.Email, p.Section = true, true, who.Credential.Email, webhooksSection
		return p, err
	}
}

// principal is who the request's cookie stands for. Errors: unauthenticated.
func (s *Site) principal(r *http.Request) (identity.Principal, error) {
	token, err := identity.SessionToken(r)
	if err != nil {
		return identity.Principal{}, err
	}
	return identity.Session(r.Context(), s.DB, token)
}

// form does what a form of our own pages asks for, in the name of who is signed
// in. Errors: cross_origin_refused, invalid_request.
func (s *Site) form(do func(r *http.Request, who identity.Principal) (page, error)) func(*http.Request) (page, error) {
	signedIn := s.signedIn(do)
	return func(r *http.Request) (page, error) {
		if err := s.readForm(r); err != nil {
			return page{}, err
		}
		return signedIn(r)
	}
}

// readForm reads a form of our own pages, and refuses one that another site's
// page sent.
func (s *Site) readForm(r *http.Request) error {
	if err := s.sameOrigin.Check(r); err != nil {
		return fault.New(fault.CrossOriginRefused, "A form is good on this service's own pages only.").Wrap(err)
	}
	r.Body = http.MaxBytesReader(nil, r.Body, formBytes)
	if err := r.ParseForm(); err != nil {
		return fault.New(fault.InvalidRequest, "The form is malformed.").Wrap(err)
	}
	return nil
}

func (s *Site) signOut(r *http.Request) (page, error) {
	if err := s.readForm(r); err != nil {
		return page{}, err
	}
	p := page{Location: webhook.ConsolePage, Cookie: new(identity.ClearedCookie(s.Links.PublicURL))}
	token, err := identity.SessionToken(r)
	if err != nil {
		return p, nil // who has no session is signed out
	}
	return p, s.DB.Write(r.Context(), func(tx *db.Tx) error { return identity.SignOut(r.Context(), tx, token) })
}
