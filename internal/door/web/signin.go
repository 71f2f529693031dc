package web

import (
	"net/http"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/webhook"
)

// formBytes bounds what a form sends.
const formBytes = 64 << 10

// signInPage tells who has no session how to get one.
type signInPage struct {
	OpenID  string
	Asked   string // the address that a link is on its way to; "" = none yet
	Minutes int    // that a link works
	Problem *fault.Wire
}

// signedIn lets see what is of a workspace, or the way to it.
func (p *pages) signedIn(see func(r *http.Request, who identity.Person) (view, error)) func(*http.Request) (view, error) {
	return func(r *http.Request) (view, error) {
		who, err := p.person(r)
		var v view
		if err == nil {
			identity.Acts(r.Context(), who.WorkspaceID)
			v, err = see(r, who)
		}
		if fault.Is(err, fault.Unauthenticated) {
			return p.signIn(http.StatusUnauthorized, signInPage{}), nil
		}
		v.Private, v.Email = true, who.Email
		return v, err
	}
}

// person is who the request's cookie stands for. Errors: unauthenticated.
func (p *pages) person(r *http.Request) (identity.Person, error) {
	token, err := identity.SessionToken(r)
	if err != nil {
		return identity.Person{}, err
	}
	return identity.Session(r.Context(), p.DB, token)
}

// form does what a form of our own pages asks for, in the name of who is signed
// in. Errors: cross_origin_refused, invalid_request.
func (p *pages) form(do func(r *http.Request, who identity.Person) (view, error)) func(*http.Request) (view, error) {
	act := p.signedIn(do)
	return func(r *http.Request) (view, error) {
		if err := p.ours(r); err != nil {
			return view{}, err
		}
		return act(r)
	}
}

// ours refuses a form that another site's page sent, and reads ours.
func (p *pages) ours(r *http.Request) error {
	if err := p.own.Check(r); err != nil {
		return fault.New(fault.CrossOriginRefused, "A form is good on this service's own pages only.").Wrap(err)
	}
	r.Body = http.MaxBytesReader(nil, r.Body, formBytes)
	if err := r.ParseForm(); err != nil {
		return fault.New(fault.InvalidRequest, "The form is malformed.").Wrap(err)
	}
	return nil
}

func (p *pages) signIn(status int, s signInPage) view {
	s.OpenID, s.Minutes = p.OpenID, int(contract.SignInLinkLife.Minutes())
	return view{Template: "signin", Title: "Sign in", Private: true, Status: status, Content: s}
}

// askForLink has a sign-in link sent, and tells nobody which addresses are known.
func (p *pages) askForLink(r *http.Request) (view, error) {
	if err := p.ours(r); err != nil {
		return view{}, err
	}
	email := r.PostForm.Get("email")
	err := p.DB.Write(r.Context(), func(tx *db.Tx) error { return identity.AskForLink(r.Context(), tx, email) })
	if status, told := fault.Envelope(err, ""); err != nil && status < http.StatusInternalServerError {
		return p.signIn(status, signInPage{Problem: &told.Error}), nil
	}
	return p.signIn(0, signInPage{Asked: email}), err
}

func (p *pages) signOut(r *http.Request) (view, error) {
	if err := p.ours(r); err != nil {
		return view{}, err
	}
	v := view{Location: webhook.ConsolePage, Cookie: new(identity.EndedCookie(p.PublicURL))}
	token, err := identity.SessionToken(r)
	if err != nil {
		return v, nil // who has no session is signed out
	}
	return v, p.DB.Write(r.Context(), func(tx *db.Tx) error { return identity.SignOut(r.Context(), tx, token) })
}
