package web

import (
	"net/http"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/identity"
)

// signInView is the content of the sign-in page.
type signInView struct {
	// OpenIDStart is the path of sign-in by an issuer; "" hides the button.
	OpenIDStart string
	// Asked is the address that a link was requested for; "" shows the form.
	Asked string
	// Minutes is how long a link works.
	Minutes int
	// Wanted says that a page was asked for that needs a session.
	Wanted bool
	// Problem is why a request was refused; nil when none was.
	Problem *fault.Wire
}

// signIn returns the sign-in page. status 0 means 200.
func (s *Site) signIn(status int, v signInView) page {
	v.OpenIDStart, v.Minutes = s.OpenIDStart, int(contract.SignInLinkLife.Minutes())
	return page{Template: "signin", Title: "Sign in", Section: jobsSection, Private: true, Forms: true, Status: status, Content: v}
}

// signInPage builds the page that signs in.
func (s *Site) signInPage(*http.Request) (page, error) { return s.signIn(0, signInView{}), nil }

// askForLink requests a sign-in link by mail. The page is the same whether or
// not the address is known, so that nobody can find out who has an account
// (decisions 3).
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

// ConfirmSignIn writes the page that a sign-in link opens. The session opens
// only when the person presses the button: mail scanners follow links, and
// would use up a link that opens the session by itself.
func (s *Site) ConfirmSignIn(w http.ResponseWriter, r *http.Request, token string) error {
	return s.show(w, r, page{Template: "confirm", Title: "Sign in", Private: true, Forms: true, Content: token})
}

// SignedIn writes the page that confirms a sign-in.
func (s *Site) SignedIn(w http.ResponseWriter, r *http.Request, email string) error {
	return s.show(w, r, page{Template: "signedin", Title: "Signed in", Private: true, Content: struct{ Email, Next string }{email, returnTo(r)}, Cookie: &http.Cookie{Name: returnCookie, Path: "/", MaxAge: -1}})
}
