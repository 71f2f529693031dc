package front

import (
	"net/http"
	"strings"

	"svc.example/internal/ground/contract"
)

// hostSession gives the session's cookie the name that every handler knows. Over https only
// the cookie with contract.HostCookiePrefix is a session: one without it can come from a
// subdomain or from an attacker who changes plain HTTP, and would sign a person in to an
// account that is not theirs.
func hostSession(r *http.Request) {
	lines := r.Header.Values("Cookie")
	if len(lines) == 0 {
		return
	}
	var kept []string
	for cookie := range strings.SplitSeq(strings.Join(lines, ";"), ";") {
		cookie = strings.TrimSpace(cookie)
		name, value, _ := strings.Cut(cookie, "=")
		switch strings.TrimSpace(name) {
		case contract.SessionCookie:
			continue
		case contract.HostCookiePrefix + contract.SessionCookie:
			cookie = contract.SessionCookie + "=" + value
		}
		kept = append(kept, cookie)
	}
	r.Header.Set("Cookie", strings.Join(kept, "; "))
}
