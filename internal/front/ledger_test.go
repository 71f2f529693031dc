package front

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/test/await"
)

func TestAWorkspaceThatHasSpentItsHourIsRefusedAndNobodyElse(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	ok := func(_ http.ResponseWriter, r *http.Request) { ratelimit.Store(r.Context(), 42) }
	mux.HandleFunc("GET /v1/thing", ok)
	mux.HandleFunc("GET /farm/v1/thing", ok)
	f := newFront(mux, slog.DiscardHandler)
	f.Rate = ratelimit.Policy{PerMinute: 60, Burst: 20}
	f.FarmRate = f.Rate
	f.Count = func(context.Context, string, ratelimit.Limits, ratelimit.Claim, int) (ratelimit.Decision, error) {
		return ratelimit.Decision{Allowed: true}, nil
	}
	f.WorkspaceOf = func(c ratelimit.Claim) string {
		if c.Bearer == "greedy" {
			return "WSP-1"
		}
		return ""
	}
	f.Ledger = &ratelimit.Ledger{Most: time.Minute}
	f.Ledger.Charge(ratelimit.Spent{Who: "WSP-1", Busy: time.Minute})
	ask := func(path, key string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("GET", path, nil)
		r.Header.Set("Authorization", "Bearer "+key)
		w := httptest.NewRecorder()
		f.ServeHTTP(w, r)
		return w
	}
	if w := ask("/v1/thing", "greedy"); w.Code != 429 || w.Header().Get("Retry-After") == "" || w.Header().Get("RateLimit") == "" {
		t.Errorf("the greedy one: %d %v", w.Code, w.Header())
	}
	if w := ask("/farm/v1/thing", "greedy"); w.Code != 200 {
		t.Errorf("a worker: %d", w.Code)
	}
	if w := ask("/v1/thing", "modest"); w.Code != 200 {
		t.Errorf("another one: %d", w.Code)
	}
	// The worker's request is not among them: its work belongs to no caller at its address.
	if top := f.Ledger.Top(2); len(top) != 2 || top[0].Who != "WSP-1" || top[1].Requests != 2 || top[1].Stored != 42 {
		t.Errorf("the ledger has %+v", top)
	}
}

// TestCallersDoNotPayForAnOutage: a request that fails because the store is away has waited
// for it, and has not worked.
func TestCallersDoNotPayForAnOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		mux := http.NewServeMux()
		mux.HandleFunc("GET /v1/away", func(w http.ResponseWriter, _ *http.Request) {
			await.Pass(time.Minute)
			w.WriteHeader(http.StatusServiceUnavailable)
		})
		mux.HandleFunc("GET /v1/slow", func(http.ResponseWriter, *http.Request) { await.Pass(time.Minute) })
		f := newFront(mux, slog.DiscardHandler)
		f.Ledger = &ratelimit.Ledger{Most: time.Hour}
		for path, busy := range map[string]time.Duration{"/v1/away": 0, "/v1/slow": time.Minute} {
			before := spentBy(f.Ledger)
			f.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", path, nil))
			if after := spentBy(f.Ledger); after-before != busy {
				t.Errorf("%s costs its caller %s, want %s", path, after-before, busy)
			}
		}
	})
}

// spentBy is how long the requests of all callers have worked.
func spentBy(l *ratelimit.Ledger) (busy time.Duration) {
	for _, s := range l.Top(10) {
		busy += s.Busy
	}
	return busy
}
