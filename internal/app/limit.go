package app

import (
	"fmt"
	"math"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/ratelimit"
)

// front makes the front of this house.
func (a *App) front(mux *http.ServeMux, counter *ratelimit.Counter) *front {
	return &front{mux: mux, log: a.Config.Log, rate: a.Config.Rate, farm: a.Config.FarmRate, hops: a.Config.TrustedHops, take: counter.Take}
}

// limit counts a request and says so in the headers. Pages, their assets and
// previews are not counted; the forms of pages are. Errors: rate_limited, unavailable.
func (f *front) limit(h http.Header, r *http.Request) error {
	class, policy := "api", f.rate
	switch path := r.URL.Path; {
	case strings.HasPrefix(path, "/farm/"):
		class, policy = "farm", f.farm
	case strings.HasPrefix(path, "/console/") && r.Method == http.MethodPost:
	case !isAPI(path) || strings.HasSuffix(path, "/preview"):
		return nil
	}
	if policy.Unlimited() {
		return nil
	}
	d, err := f.take(r.Context(), class, policy, ratelimit.Claim{Bearer: bearer(r), Session: session(r), Address: addressOf(r, f.hops)})
	if err != nil {
		f.log.Error("cannot count a request", "error", err)
		return fault.New(fault.Unavailable, "The database does not answer.").After(5 * time.Second).Wrap(err)
	}
	h.Set("RateLimit-Policy", fmt.Sprintf(`"%s";q=%d;w=60;burst=%d`, class, policy.PerMinute, policy.Burst))
	h.Set("RateLimit", fmt.Sprintf(`"%s";r=%d;t=%d`, class, d.Remaining, int(math.Ceil(d.Full.Seconds()))))
	if !d.Allowed {
		return fault.New(fault.RateLimited, "More than %d requests at once, or %d a minute.", policy.Burst, policy.PerMinute).After(d.Retry)
	}
	return nil
}

func bearer(r *http.Request) string {
	scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(secret)
}

func session(r *http.Request) string {
	cookie, err := r.Cookie(contract.SessionCookie)
	if err != nil {
		return ""
	}
	return cookie.Value
}

// subnet is how much of an IPv6 address names a client: one gets the rest to
// choose from.
const subnet = 64

// addressOf is where a request comes from. Behind hops trusted proxies it is what
// the outermost of them has written into X-Forwarded-For.
func addressOf(r *http.Request, hops int) string {
	address, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		address = r.RemoteAddr
	}
	if hops > 0 {
		said := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
		if from := strings.TrimSpace(said[max(0, len(said)-hops)]); from != "" {
			address = from
		}
	}
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return "unknown"
	}
	if ip = ip.Unmap().WithZone(""); ip.Is4() {
		return ip.String()
	}
	wide, err := ip.Prefix(subnet)
	if err != nil {
		return ip.String()
	}
	return wide.String()
}
