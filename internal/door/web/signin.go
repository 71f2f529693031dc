package web

import (
	"net/http"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/webhook"
)

// signInView tells who has no session how to get one.
type signInView struct {
	OpenIDStart string
	Asked       string // the address that a link is on its way to; "" = none yet
	Minutes     int    // that a link works
	Problem     *fault.Wire
}

func (s *Site) signIn(status int, v signInView) page {
	v.OpenIDStart, v.Minutes = s.OpenIDStart, int(contract.SignInLinkLife.Minutes())
	return page{Template: "signin", Title: "Sign in", Section: webhooksSection, Private: true, Forms: true, Status: status, Content: v}
}

// askForLink has a sign-in link sent, and tells nobody which addresses are known.
func (s *Site) askForLink(r *http.Request) (page, error) {
	if err := s.readForm(r); err != nil {
		return page{}, err
	}
	email := r.PostForm.Get("email")
	err := s.DB.Write(r.Context(), func(tx *db.Tx) error { return identity.RequestLink(r.Context(), tx, email) })
	if status, envelope := fault.Envelope(err, ""); err != nil && status < http.StatusInternalServerError {
		return s.signIn(status, signInView{Problem: &envelope.Error}), nil
	}
	return s.signIn(0, signInView{Asked: email}), err
}

// ConfirmSignIn answers with the page that a sign-in link opens. Its button sends
// the link's token: mail scanners follow links, and would use up one that opens
// the session by itself.
func (s *Site) ConfirmSignIn(w http.ResponseWriter, r *http.Request, token string) error {
	return s.show(w, r, page{Template: "confirm", Title: "Sign in", Private: true, Forms: true, Content: token})
}

// SignedIn answers with the page that tells who is signed in now.
func (s *Site) SignedIn(w http.ResponseWriter, r *http.Request, email string) error {
	return s.show(w, r, page{Template: "signedin", Title: "Signed in", Private: true, Content: struct{ Email, Next string }{email, webhook.ConsolePage}})
}
