package page

import (
	"encoding/base64"
	"net/http"
	"strings"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/links"
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
func (s *Base) signIn(status int, v signInView) Page {
	v.OpenIDStart, v.Minutes = s.OpenIDStart, int(contract.SignInLinkLife.Minutes())
	return Page{Template: "signin", Title: "Sign in", Section: JobsSection, Private: true, Forms: true, Status: status, Content: v}
}

// SignInPage builds the page that signs in.
func (s *Base) SignInPage(*http.Request) (Page, error) { return s.signIn(0, signInView{}), nil }

// AskForLink requests a sign-in link by mail. The page is the same whether or
// not the address is known, so it does not reveal whether an account exists
// (decisions 3).
func (s *Base) AskForLink(r *http.Request) (Page, error) {
	if err := s.readForm(r); err != nil {
		return Page{}, err
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
// would use up a link that opened the session directly.
func (s *Base) ConfirmSignIn(w http.ResponseWriter, r *http.Request, email, token string) error {
	return s.Show(w, r, Page{Template: "confirm", Title: "Sign in", Private: true, Forms: true, Content: struct{ Email, Token string }{email, token}})
}

// SignedIn writes the page that confirms a sign-in.
func (s *Base) SignedIn(w http.ResponseWriter, r *http.Request, email string) error {
	return s.Show(w, r, Page{Template: "signedin", Title: "Signed in", Private: true, Content: struct{ Email, Next string }{email, returnTo(r)}, Cookie: &http.Cookie{Name: returnCookie, Path: "/", MaxAge: -1}})
}

// returnCookie remembers the question that a person was asked before they signed in, so that
// the page after it leads back.
const returnCookie = "svc_return"

// Returning remembers the address of a page that asks to sign in first.
func (s *Base) Returning(build func(*http.Request) (Page, error)) func(*http.Request) (Page, error) {
	return func(r *http.Request) (Page, error) {
		p, err := build(r)
		if err == nil && p.Status == http.StatusUnauthorized {
			if value := base64.RawURLEncoding.EncodeToString([]byte(r.URL.RequestURI())); len(value) < 3500 {
				p.Cookie = &http.Cookie{
					Name: returnCookie, Value: value, Path: "/", MaxAge: int(contract.SignInLinkLife.Seconds()),
					HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: s.Links.Secure(),
				}
			}
		}
		return p, err
	}
}

// returnTo is where a person goes after signing in: back to a program's question, or to the
// console. Nothing but those two pages is ever a destination.
func returnTo(r *http.Request) string {
	cookie, err := r.Cookie(returnCookie)
	if err != nil {
		return ConsolePath
	}
	text, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	to := string(text)
	if err != nil || (!strings.HasPrefix(to, links.AuthorizePath+"?") && to != links.DevicePath && !strings.HasPrefix(to, links.DevicePath+"?")) {
		return ConsolePath
	}
	return to
}
