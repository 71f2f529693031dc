package identity

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/fault"
)

// SameOrigin knows the service's own pages: those of the host that was asked, and
// of the public URL, where a proxy asks by another name. What another site's page
// sends with a person's cookie is not the person's wish.
func SameOrigin(publicURL string) *http.CrossOriginProtection {
	own := http.NewCrossOriginProtection()
	if u, err := url.Parse(publicURL); err == nil && u.Host != "" {
		_ = own.AddTrustedOrigin(u.Scheme + "://" + u.Host) // of this form it is always taken
	}
	return own
}

// SessionCookie carries a session, and under TLS only where the service has it.
func SessionCookie(publicURL, token string, expires time.Time) http.Cookie {
	return http.Cookie{
		Name: contract.SessionCookie, Value: token, Path: "/", Expires: expires,
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: strings.HasPrefix(publicURL, "https://"),
	}
}

// EndedCookie takes the session's cookie out of the browser.
func EndedCookie(publicURL string) http.Cookie {
	return SessionCookie(publicURL, "", time.Unix(1, 0))
}

// SessionToken is what the request's cookie carries, or unauthenticated.
func SessionToken(r *http.Request) (string, error) {
	cookie, err := r.Cookie(contract.SessionCookie)
	if err != nil {
		return "", fault.New(fault.Unauthenticated, "This needs a browser session.").WithAction(SignInAgain)
	}
	return cookie.Value, nil
}
