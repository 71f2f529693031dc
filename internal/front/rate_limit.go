package front

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/ratelimit"
)

// limit counts a request and sets the RateLimit headers (decisions 13). Pages,
// their assets and previews are not counted; form submissions are.
//
// It fails closed: when the count cannot be read, the request gets a 503,
// because a route without a limit is what an attacker would wait for. Errors:
// rate_limited, unavailable.
func (f *Front) limit(h http.Header, r *http.Request) error {
	class, policy := "api", f.Rate
	switch path := r.URL.Path; {
	case strings.HasPrefix(path, "/farm/"):
		class, policy = "farm", f.FarmRate
	// A form of a page counts like a request of the API: it does the same work.
	case strings.HasPrefix(path, "/console/") && r.Method == http.MethodPost:
	case !isAPI(path) || strings.HasSuffix(path, "/preview"):
		return nil
	}
	if policy.Unlimited() {
		return nil
	}
	d, err := f.Count(r.Context(), class, policy, ratelimit.Claim{Bearer: bearer(r), Session: session(r), Address: addressOf(r, f.TrustedHops)})
	if err != nil {
		return fault.New(fault.Unavailable, "The database does not answer.").After(5 * time.Second).Wrap(err)
	}
	h.Set("RateLimit-Policy", fmt.Sprintf(`"%s";q=%d;w=60;burst=%d`, class, policy.PerMinute, policy.Burst))
	h.Set("RateLimit", fmt.Sprintf(`"%s";r=%d;t=%d`, class, d.Remaining, int(math.Ceil(d.Full.Seconds()))))
	if !d.Allowed {
		return fault.New(fault.RateLimited, "More than %d requests at once, or %d a minute.", policy.Burst, policy.PerMinute).After(d.Retry)
	}
	return nil
}

// bearer returns the secret of the Authorization header; "" without one. It is
// not verified here: a key that opens nothing counts for its address (decisions
// 13).
func bearer(r *http.Request) string {
	scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(secret)
}

// session returns the value of the session cookie; "" without one.
func session(r *http.Request) string {
	cookie, err := r.Cookie(contract.SessionCookie)
	if err != nil {
		return ""
	}
	return cookie.Value
}
