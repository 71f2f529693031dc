package front

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/ratelimit"
)

// neighbour takes the requests under /beside, and refuses one path there.
type neighbour struct{}

func (neighbour) Of(r *http.Request) (*http.Request, bool) {
	path, found := strings.CutPrefix(r.URL.Path, "/beside")
	if !found {
		return r, false
	}
	r = r.Clone(r.Context())
	r.URL.Path = path
	return r, true
}

func (neighbour) Serve(w http.ResponseWriter, r *http.Request) error {
	if r.URL.Path == "/v1/refused" {
		return fault.New(fault.WrongMode, "Not here.")
	}
	_, err := io.WriteString(w, "elsewhere")
	return err
}

// TestWhatIsForAnotherServicePassesTheLimitAndIsNotCounted: it costs this service as much as
// its own requests do, and is none of them.
func TestWhatIsForAnotherServicePassesTheLimitAndIsNotCounted(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	mux := http.NewServeMux()
	for _, path := range []string{"GET /v1/thing", "GET /v1/refused"} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "here") })
	}
	f := newFront(mux, slog.NewTextHandler(&log, nil))
	limited, observed := 0, 0
	f.Elsewhere, f.Rate = neighbour{}, ratelimit.Policy{PerMinute: 60, Burst: 20}
	f.Count = func(context.Context, string, ratelimit.Limits, ratelimit.Claim, int) (ratelimit.Decision, error) {
		limited++
		return ratelimit.Decision{Allowed: true}, nil
	}
	f.Observe = func(string, int, time.Duration) { observed++ }
	for _, c := range []struct {
		path, want        string
		status            int
		limited, observed int
	}{
		{"/v1/thing", "here", 200, 1, 1},
		{"/beside/v1/thing", "elsewhere", 200, 2, 1},
		{"/beside/v1/refused", `"code":"wrong_mode"`, 409, 3, 1},
		{"/beside/v1/nothing", `"code":"route_not_found"`, 404, 4, 1},
	} {
		w := httptest.NewRecorder()
		f.ServeHTTP(w, httptest.NewRequest("GET", c.path, nil))
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) || limited != c.limited || observed != c.observed {
			t.Errorf("%s: %d %s, limited %d times, observed %d", c.path, w.Code, w.Body, limited, observed)
		}
	}
	if lines := strings.Count(log.String(), "test=true"); lines != 3 {
		t.Errorf("%d lines of the log say that they are of a test, want 3: %s", lines, log.String())
	}
}
