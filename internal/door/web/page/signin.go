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
	if err := s.ReadForm(r); err != nil {
		return Page{}, err
	}
	email := r.PostForm.Get("email")
	err := s.DB.Write(r.Context(), func(tx *db.Tx) error { return identity.RequestLink(r.Context(), tx, email) })
	if status, problem := Refused(err); err != nil && status < http.StatusInternalServerError {
		return s.signIn(status, signInView{Problem: problem}), nil
	}
	return s.signIn(0, signInView{Asked: email}), err
}

// ConfirmSignIn writes the page that a sign-in link opens. The session opens
// only when the person presses the button: mail scanners follow links, and
// would use up a link that opened the session directly.
func (s *Base) ConfirmSignIn(w http.ResponseWriter, r *http.Request, email, token string) error {
	return s.Show(w, r, Page{Template: "confirm", Title: "Sign in", Private: true, Forms: true, Content: struct{ Email, Token string }{email, token}})
}

// SignedIn leads back to the page that asked to sign in. Without one it writes the page that
// confirms a sign-in.
func (s *Base) SignedIn(w http.ResponseWriter, r *http.Request, email string) error {
	return s.Show(w, r, Page{
		Template: "signedin", Title: "Signed in", Private: true, Content: struct{ Email, Next string }{email, ConsolePath},
		Location: returnTo(r), Cookie: &http.Cookie{Name: returnCookie, Path: "/", MaxAge: -1},
	})
}

// returnCookie remembers the page that a person asked for before they signed in.
const returnCookie = "svc_return"

// askToSignIn is the page that asks to sign in first. It remembers the address that was asked
// for.
func (s *Base) askToSignIn(r *http.Request) Page {
	p := s.signIn(http.StatusUnauthorized, signInView{Wanted: true})
	if value := base64.RawURLEncoding.EncodeToString([]byte(r.URL.RequestURI())); len(value) < 3500 {
		p.Cookie = &http.Cookie{
			Name: returnCookie, Value: value, Path: "/", MaxAge: int(contract.SignInLinkLife.Seconds()),
			HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: s.Links.Secure(),
		}
	}
	return p
}

// returnTo is the page that a person asked for before they signed in; "" for none. Nothing
// but the pages that ask to sign in is ever a destination.
func returnTo(r *http.Request) string {
	cookie, err := r.Cookie(returnCookie)
	if err != nil {
		return ""
	}
	text, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	if err != nil {
		return ""
	}
	to := string(text)
	path, _, _ := strings.Cut(to, "?")
	for _, page := range []string{links.AuthorizePath, links.DevicePath, ConsolePath, AdminPath} {
		if path == page || strings.HasPrefix(path, page+"/") {
			return to
		}
	}
	return ""
}
