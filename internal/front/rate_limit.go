package front

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/links"
	"svc.example/internal/ground/ratelimit"
)

// workspaceLimit is the name of a workspace's limit in the RateLimit headers; that of
// a client's is its class.
const workspaceLimit = "workspace"

// meter counts one request, and what it asks for beyond one.
type meter struct {
	front  *Front
	class  string
	limits ratelimit.Limits
	claim  ratelimit.Claim
	header http.Header // of the response
}

// pages is the class of what anyone may read: pages, their files, and the log of receipts.
const pages = "pages"

// ofWorkers reports whether a path is of the workers' API.
func ofWorkers(path string) bool { return strings.HasPrefix(path, "/farm/") }

// meterOf returns what counts a request; nil only for probes and without a limit. Pages have
// limits of their own (decisions 13), because one of them shows a hundred pictures; forms
// count like requests of the API. Workers have their own limit, and no workspace.
func (f *Front) meterOf(h http.Header, r *http.Request) *meter {
	m := meter{front: f, class: "api", limits: ratelimit.Limits{Client: f.Rate, Workspace: f.Rate.Times(contract.WorkspaceRate)}, header: h}
	switch path := r.URL.Path; {
	case strings.HasPrefix(path, links.PartsPath):
		m.class, m.limits.Client, m.limits.Workspace = "parts", f.Rate.Times(contract.PartRate), m.limits.Workspace.Times(contract.PartRate)
	case ofWorkers(path):
		m.class, m.limits = "farm", ratelimit.Limits{Client: f.FarmRate}
	// A form of a page counts like a request of the API: it does the same work.
	case strings.HasPrefix(path, "/console/") && r.Method == http.MethodPost:
	case strings.HasPrefix(path, "/console"):
		m.class, m.limits.Client, m.limits.Workspace = "console", f.Rate.Times(contract.ConsoleRate), m.limits.Workspace.Times(contract.ConsoleRate)
	// What programs and people do to let a program in counts too: codes could be guessed.
	case strings.HasPrefix(path, "/oauth/"):
	case path == livePath, path == readyPath:
		return nil // a monitor must see a flood; neither probe costs much
	case !isAPI(path) && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		m.class, m.limits = pages, ratelimit.Limits{Client: f.Rate.Times(contract.PageRate)}
	}
	if m.limits.Client.Unlimited() {
		return nil
	}
	m.claim = ratelimit.Claim{Bearer: bearer(r), Session: session(r), Address: addressOf(r, f.TrustedHops)}
	return &m
}

// count counts n requests and sets the RateLimit headers, for the limit that is
// nearer.
//
// It fails closed: when the count cannot be read, the request gets a 503,
// because a route without a limit is what an attacker would wait for. Errors:
// rate_limited, unavailable.
func (m *meter) count(ctx context.Context, n int) error {
	d, err := m.decide(ctx, n)
	if err != nil {
		return fault.New(fault.Unavailable, "The database does not answer.").After(5 * time.Second).Wrap(err)
	}
	name, near, whose := m.class, m.limits.Client, ""
	if d.Workspace {
		name, near, whose = workspaceLimit, m.limits.Workspace, " from this workspace"
	}
	m.header.Set("RateLimit-Policy", fmt.Sprintf(`"%s";q=%d;w=60;burst=%d`, name, near.PerMinute, near.Burst))
	m.header.Set("RateLimit", fmt.Sprintf(`"%s";r=%d;t=%d`, name, d.Remaining, int(math.Ceil(d.Full.Seconds()))))
	if !d.Allowed {
		hold(ctx, d.Hold)
		return fault.New(fault.RateLimited, "Too many requests%[2]s: the limit is %[1]d at once and %[3]d per minute.", near.Burst, whose, near.PerMinute).After(d.Retry)
	}
	return nil
}

// decide asks for a decision about n requests. Public reads are counted by address in this
// process only, so neither readers nor a flood of them reach the database.
func (m *meter) decide(ctx context.Context, n int) (ratelimit.Decision, error) {
	if m.class == pages {
		return m.front.pages.Take(m.limits.Client, m.claim.Address, n), nil
	}
	return m.front.Count(ctx, m.class, m.limits, m.claim, n)
}

// hold waits for d, or until the caller is gone or the service stops. A client that never
// waits would otherwise use the processor up with its refused requests.
func hold(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	waiting, cancel := Waiting(ctx)
	defer cancel()
	select {
	case <-time.After(d):
	case <-waiting.Done():
	}
}

// spends refuses a request whose workspace or address has had its share of this process's
// time in this hour. Workers are needed, whatever they cost. Error: rate_limited.
func (m *meter) spends() error {
	if m.class == "farm" {
		return nil
	}
	who, whose := m.claim.Address, "network address"
	if of := m.front.WorkspaceOf; of != nil && m.class != pages {
		if workspace := of(m.claim); workspace != "" {
			who, whose = workspace, "workspace"
		}
	}
	r, refused := m.front.Ledger.Refuses(who)
	if !refused {
		return nil
	}
	return fault.New(fault.RateLimited, "Requests from your %s have %s, which is the limit.", whose, r.Used).After(r.Retry)
}

type meterKey struct{}

// Charge counts a request as n more, because it asks for the work of that many. A
// handler calls it before it does any of the work. Errors: rate_limited, unavailable.
func Charge(ctx context.Context, n int) error {
	m, counted := ctx.Value(meterKey{}).(*meter)
	if !counted || n <= 0 {
		return nil
	}
	return m.count(ctx, n)
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
