package front

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
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

// ticking is a clock of threads on which all that is done once takes a second.
type ticking struct{ used time.Duration }

func (c *ticking) Used() time.Duration { c.used += time.Second; return c.used }
func (*ticking) ID() int               { return 1 }

func TestACallerThatUsesTheProcessorForTooLongWaits(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/thing", func(_ http.ResponseWriter, r *http.Request) {
		ratelimit.Work(r.Context(), func() { _, _ = io.Copy(io.Discard, r.Body) }) // two reads, so three parts
	})
	f := newFront(mux, slog.DiscardHandler)
	f.Rate = ratelimit.Policy{PerMinute: 60, Burst: 20}
	f.Count = func(context.Context, string, ratelimit.Limits, ratelimit.Claim, int) (ratelimit.Decision, error) {
		return ratelimit.Decision{Allowed: true}, nil
	}
	now := time.Now()
	f.Ledger = &ratelimit.Ledger{MostCPU: 3 * time.Second, Thread: &ticking{}, Clock: func() time.Time { return now }}
	ask := func(address string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("POST", "/v1/thing", strings.NewReader("bytes"))
		r.RemoteAddr = address + ":1"
		w := httptest.NewRecorder()
		f.ServeHTTP(w, r)
		return w
	}
	if w := ask("198.51.100.7"); w.Code != 200 {
		t.Errorf("the first request: %d", w.Code)
	}
	if top := f.Ledger.Top(1); len(top) != 1 || top[0].CPU != 3*time.Second {
		t.Fatalf("what the caller is waited for is charged: %+v", top)
	}
	if w := ask("198.51.100.7"); w.Code != 429 || w.Header().Get("Retry-After") != "1" || !strings.Contains(w.Body.String(), "3s of processor time") {
		t.Errorf("at the bound: %d %v %s", w.Code, w.Header(), w.Body)
	}
	if w := ask("198.51.100.8"); w.Code != 200 {
		t.Errorf("another address: %d", w.Code)
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
