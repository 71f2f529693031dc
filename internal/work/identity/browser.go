package identity

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/fault"
)

// SameOrigin recognises requests from the service's own pages: those of the requested
// host, and those of the public URL, which a proxy may hide. A request that another
// site's page sends with a person's cookie is not that person's decision. Without a
// usable publicURL only the requested host counts.
func SameOrigin(publicURL string) *http.CrossOriginProtection {
	own := http.NewCrossOriginProtection()
	if u, err := url.Parse(publicURL); err == nil && u.Host != "" {
		_ = own.AddTrustedOrigin(u.Scheme + "://" + u.Host) // an origin of this form is always accepted
	}
	return own
}

// SessionCookie carries a session. Scripts cannot read it, and the browser sends it
// only over TLS where the public URL has TLS. SameSite=Lax lets a link from a mail open
// a page signed in, but no other site's form.
// Over https its name has contract.HostCookiePrefix, which package front takes off again.
func SessionCookie(publicURL, token string, expires time.Time) http.Cookie {
	name, https := contract.SessionCookie, strings.HasPrefix(publicURL, "https://")
	if https {
		name = contract.HostCookiePrefix + name
	}
	return http.Cookie{
		Name: name, Value: token, Path: "/", Expires: expires,
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: https,
	}
}

// ClearedCookie removes the session's cookie from the browser: it has expired, under
// the name and path of SessionCookie.
func ClearedCookie(publicURL string) http.Cookie {
	return SessionCookie(publicURL, "", time.Unix(1, 0))
}

// SessionToken returns the value of the request's session cookie. It does not check it;
// see Session. Error: unauthenticated.
func SessionToken(r *http.Request) (string, error) {
	cookie, err := r.Cookie(contract.SessionCookie)
	if err != nil {
		return "", fault.New(fault.Unauthenticated, "Sign in with a browser to use this page.").WithAction(SignInAgain)
	}
	return cookie.Value, nil
}
