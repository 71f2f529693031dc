package front

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/ratelimit"
)

// counted serves one request at a front whose clients have no request left, and
// returns what was counted.
func counted(t *testing.T, r *http.Request, hops int) (w *httptest.ResponseRecorder, class string, claim ratelimit.Claim) {
	t.Helper()
	mux := http.NewServeMux()
	for _, route := range []string{"GET /v1/thing", "GET /v1/frames/1/preview", "GET /farm/v1/thing", "GET /docs", "POST /v1/api-keys", "POST /console/sign-in"} {
		mux.HandleFunc(route, func(http.ResponseWriter, *http.Request) {})
	}
	f := newFront(mux, slog.DiscardHandler)
	f.TrustedHops = hops
	f.Rate, f.FarmRate = ratelimit.Policy{PerMinute: 60, Burst: 20}, ratelimit.Policy{PerMinute: 6000, Burst: 200}
	f.Count = func(_ context.Context, in string, _ ratelimit.Limits, c ratelimit.Claim, _ int) (ratelimit.Decision, error) {
		class, claim = in, c
		return ratelimit.Decision{Retry: 1500 * time.Millisecond, Full: 20 * time.Second}, nil
	}
	w = httptest.NewRecorder()
	f.ServeHTTP(w, r)
	return w, class, claim
}

func TestARefusedClientIsToldWhenToComeBack(t *testing.T) {
	t.Parallel()
	w, _, _ := counted(t, httptest.NewRequest("GET", "/v1/thing", nil), 0)
	var body fault.Body
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
		t.Fatal(err)
	}
	if w.Code != 429 || body.Error.Code != fault.RateLimited || !body.Error.Retryable || *body.Error.RetryAfterSeconds != 1.5 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for name, want := range map[string]string{
		"Retry-After": "2", "RateLimit": `"api";r=0;t=20`, "RateLimit-Policy": `"api";q=60;w=60;burst=20`, "Access-Control-Allow-Origin": "*",
	} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// TestTheNearerLimitIsTold: the headers and the refusal are about the limit that a
// client meets first.
func TestTheNearerLimitIsTold(t *testing.T) {
	t.Parallel()
	f := newFront(http.NewServeMux(), slog.DiscardHandler)
	f.Rate = ratelimit.Policy{PerMinute: 60, Burst: 20}
	f.Count = func(_ context.Context, _ string, l ratelimit.Limits, _ ratelimit.Claim, _ int) (ratelimit.Decision, error) {
		if want := (ratelimit.Policy{PerMinute: 300, Burst: 100}); l.Workspace != want {
			t.Errorf("a workspace's limit is %+v, want %+v", l.Workspace, want)
		}
		return ratelimit.Decision{Workspace: true, Retry: time.Second, Full: 20 * time.Second}, nil
	}
	w := httptest.NewRecorder()
	f.ServeHTTP(w, httptest.NewRequest("GET", "/v1/thing", nil))
	if got := w.Header().Get("RateLimit"); got != `"workspace";r=0;t=20` {
		t.Errorf("RateLimit is %q", got)
	}
	if got := w.Header().Get("RateLimit-Policy"); got != `"workspace";q=300;w=60;burst=100` {
		t.Errorf("RateLimit-Policy is %q", got)
	}
	if w.Code != 429 || !strings.Contains(w.Body.String(), "Too many requests from this workspace: the limit is 100 at once and 300 per minute.") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestARefusalIsHeldBackUntilAStop: the answer comes when the time is over, or at once
// when the service stops.
func TestARefusalIsHeldBackUntilAStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFront(http.NewServeMux(), slog.DiscardHandler)
		serving, stop := context.WithCancel(t.Context())
		f.Serving, f.Rate = serving, ratelimit.Policy{PerMinute: 60, Burst: 20}
		f.Count = func(context.Context, string, ratelimit.Limits, ratelimit.Claim, int) (ratelimit.Decision, error) {
			return ratelimit.Decision{Hold: time.Second, Retry: time.Second}, nil
		}
		ask := func() (took time.Duration) {
			began, w := time.Now(), httptest.NewRecorder()
			f.ServeHTTP(w, httptest.NewRequest("GET", "/v1/thing", nil))
			if w.Code != 429 {
				t.Errorf("%d %s", w.Code, w.Body)
			}
			return time.Since(began)
		}
		if took := ask(); took != time.Second {
			t.Errorf("the refusal took %s", took)
		}
		stop()
		if took := ask(); took != 0 {
			t.Errorf("during a stop the refusal took %s", took)
		}
	})
}

// TestAHandlerChargesWhatItIsAskedFor: a charge beyond the limit is the answer, and
// counts for the same client as the request.
func TestAHandlerChargesWhatItIsAskedFor(t *testing.T) {
	t.Parallel()
	var counted []int
	mux := http.NewServeMux()
	f := newFront(mux, slog.DiscardHandler)
	f.Rate = ratelimit.Policy{PerMinute: 60, Burst: 20}
	f.Count = func(_ context.Context, _ string, _ ratelimit.Limits, c ratelimit.Claim, n int) (ratelimit.Decision, error) {
		counted = append(counted, n)
		return ratelimit.Decision{Allowed: n < 20 && c.Bearer == "key", Retry: 3 * time.Second}, nil
	}
	mux.Handle("POST /mcp", f.Errors.Handle(func(_ http.ResponseWriter, r *http.Request) error {
		for _, n := range []int{-1, 0, 19, 499} {
			if err := Charge(r.Context(), n); err != nil {
				return err
			}
		}
		t.Error("a charge beyond the limit passed")
		return nil
	}))
	r := httptest.NewRequest("POST", "/mcp", nil)
	r.Header.Set("Authorization", "Bearer key")
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	if w.Code != 429 || w.Header().Get("Retry-After") != "3" || !slices.Equal(counted, []int{1, 19, 499}) {
		t.Errorf("%d %v, counted %v", w.Code, w.Header(), counted)
	}
}

func TestEachDoorHasItsOwnCount(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/v1/thing": "api", "/v1/nothing": "api", "/farm/v1/thing": "farm", "/docs": "", // counted in the process: TestEveryPageIsCounted "/v1/frames/1/preview": "api",
	} {
		if _, class, _ := counted(t, httptest.NewRequest("GET", path, nil), 0); class != want {
			t.Errorf("%s counts for %q, want %q", path, class, want)
		}
	}
}

func TestEveryPageIsCounted(t *testing.T) {
	t.Parallel()
	f := newFront(http.NewServeMux(), slog.DiscardHandler)
	f.Rate = ratelimit.Policy{PerMinute: 1, Burst: 1} // so slow that a busy machine earns nothing back
	ask := func(path, address string) int {
		r := httptest.NewRequest("GET", path, nil)
		r.RemoteAddr = address
		w := httptest.NewRecorder()
		f.ServeHTTP(w, r)
		return w.Code
	}
	paths := []string{"/", "/proof/RCT-1", "/log/checkpoint", "/log/tile/0/000", "/assets/style.css", "/sign-in", "/leaderboard", "/nothing", "/.well-known/x"}
	for n := range contract.PageRate {
		if got := ask(paths[n%len(paths)], "[2001:db8:1:2::7]:1"); got == 429 {
			t.Fatalf("request %d is refused", n)
		}
	}
	for _, path := range paths {
		if got := ask(path, "[2001:db8:1:2:ffff::1]:1"); got != 429 {
			t.Errorf("%s of the same subnet: %d", path, got)
		}
	}
	if got := ask("/", "[2001:db8:1:3::7]:1"); got == 429 {
		t.Errorf("another subnet: %d", got)
	}
	for _, path := range []string{"/livez", "/readyz"} {
		if got := ask(path, "[2001:db8:1:2::7]:1"); got == 429 {
			t.Errorf("%s is refused", path)
		}
	}
}

// TestTheFormsOfPagesAreCounted since one of them sends mail.
func TestTheFormsOfPagesAreCounted(t *testing.T) {
	t.Parallel()
	if w, class, _ := counted(t, httptest.NewRequest("POST", "/console/sign-in", nil), 0); class != "api" || w.Code != 429 {
		t.Errorf("it is counted as %q, and answered %d", class, w.Code)
	}
}

func TestPagesOfAWorkspaceAreCounted(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/console", "/console/jobs/JOB-1/frames/1/small", "/console/live"} {
		if w, class, _ := counted(t, httptest.NewRequest("GET", path, nil), 0); class != "console" || w.Code != 429 {
			t.Errorf("%s is counted as %q, and answered %d", path, class, w.Code)
		}
	}
}

func TestAClientIsItsKeyItsSessionOrItsAddress(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		remote, forwarded string
		hops              int
		want              string
	}{
		"direct":                     {"192.0.2.7:99", "198.51.100.1", 0, "192.0.2.7"},
		"one proxy in front":         {"10.0.0.1:99", "203.0.113.9, 198.51.100.1", 1, "198.51.100.1"},
		"two in front":               {"10.0.0.1:99", "203.0.113.9, 198.51.100.1", 2, "203.0.113.9"},
		"fewer hops than configured": {"10.0.0.1:99", "203.0.113.9", 3, "203.0.113.9"},
		"a proxy that says nothing":  {"10.0.0.1:99", "", 1, "10.0.0.1"},
		"IPv6, any of its subnet":    {"[2001:db8:1:2:3:4:5:6]:99", "", 0, "2001:db8:1:2::/64"},
		"IPv4 in IPv6":               {"[::ffff:192.0.2.7]:99", "", 0, "192.0.2.7"},
		"a port":                     {"10.0.0.1:99", "198.51.100.1:4711", 1, "198.51.100.1"},
		"IPv6 in brackets":           {"10.0.0.1:99", "[2001:db8:1:2:3:4:5:6]", 1, "2001:db8:1:2::/64"},
		"IPv6 with a port":           {"10.0.0.1:99", "203.0.113.9, [2001:db8:1:2:3:4:5:6]:4711", 1, "2001:db8:1:2::/64"},
		"what is no address at all":  {"@", "", 0, "unknown"},
		"a forged, meaningless hop":  {"10.0.0.1:99", "<script>", 1, "unknown"},
		"a forged hop left of a hop": {"10.0.0.1:99", "<script>, 198.51.100.1", 1, "198.51.100.1"},
	} {
		r := httptest.NewRequest("GET", "/v1/thing", nil)
		r.RemoteAddr = c.remote
		if c.forwarded != "" {
			r.Header.Set("X-Forwarded-For", c.forwarded)
		}
		r.Header.Set("Authorization", "bearer  svc_x")
		r.AddCookie(&http.Cookie{Name: "svc_session", Value: "s"})
		_, _, claim := counted(t, r, c.hops)
		if want := (ratelimit.Claim{Bearer: "svc_x", Session: "s", Address: c.want}); claim != want {
			t.Errorf("%s: %+v, want %+v", name, claim, want)
		}
	}
}

func TestOtherOriginsMayAskWhatNeedsNoCookie(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		method, path string
		status       int
		origin       string
	}{
		{"OPTIONS", "/v1/thing", 204, "*"},
		{"OPTIONS", "/v1/nothing", 404, "*"},
		{"OPTIONS", "/v1/api-keys", 429, ""}, // no preflight there: it is counted like any request
		{"PUT", "/v1/workspace/proof-pages", 429, ""},
		{"GET", "/v1/thing", 429, "*"},
		{"GET", "/docs", 200, ""},
	} {
		w, _, _ := counted(t, httptest.NewRequest(c.method, c.path, nil), 0)
		if w.Code != c.status || w.Header().Get("Access-Control-Allow-Origin") != c.origin {
			t.Errorf("%s %s: %d, origin %q", c.method, c.path, w.Code, w.Header().Get("Access-Control-Allow-Origin"))
		}
		if c.status == 204 {
			if got := w.Header().Get("Access-Control-Allow-Methods"); got != "GET, HEAD, OPTIONS" {
				t.Errorf("methods are %q", got)
			}
			for _, name := range []string{"Authorization", "If-None-Match", "If-Range", "traceparent", "Mcp-Protocol-Version"} {
				if !strings.Contains(w.Header().Get("Access-Control-Allow-Headers"), name) {
					t.Errorf("headers are %q", w.Header().Get("Access-Control-Allow-Headers"))
				}
			}
			for _, name := range []string{"WWW-Authenticate", "ETag", "Content-Range", "Accept-Ranges", "Retry-After"} {
				if !strings.Contains(w.Header().Get("Access-Control-Expose-Headers"), name) {
					t.Errorf("exposed are %q", w.Header().Get("Access-Control-Expose-Headers"))
				}
			}
		}
	}
}

// TestALogLineTellsTheRouteAndNoSecret serves a signed link and looks for its
// signature in the log.
func TestALogLineTellsTheRouteAndNoSecret(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/artifacts/{job_id}", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("12345")) })
	f := newFront(mux, slog.NewTextHandler(&text, nil))
	r := httptest.NewRequest("GET", "/v1/artifacts/JOB-1?signature=s3cret", nil)
	r.Header.Set("Authorization", "Bearer svc_s3cret")
	r.Header.Set("X-Request-Id", "mine")
	f.ServeHTTP(httptest.NewRecorder(), r)
	for _, want := range []string{"method=GET", "route=/v1/artifacts/{job_id}", "status=200", "ms=", "bytes=5", "request_id=mine", `workspace_id=""`} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %s in %s", want, text.String())
		}
	}
	if strings.Contains(text.String(), "s3cret") || strings.Contains(text.String(), "JOB-1") {
		t.Errorf("the log reveals too much: %s", text.String())
	}
}
