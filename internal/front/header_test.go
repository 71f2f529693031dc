package front

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// headersOf returns the headers of an answer whose handler sets none but cache.
func headersOf(https bool, path, cache string) http.Header {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /", func(w http.ResponseWriter, _ *http.Request) {
		if cache != "" {
			w.Header().Set("Cache-Control", cache)
		}
		_, _ = io.WriteString(w, "x")
	})
	f := newFront(mux, slog.DiscardHandler)
	f.HTTPS = https
	w := httptest.NewRecorder()
	f.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w.Header()
}

func TestAnAnswerIsPrivateUnlessItsHandlerSaysOtherwise(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/v1/wallet", "/node/v1/jobs", "/mcp", "/farm/v1/lease", "/console/webhooks"} {
		if got := headersOf(false, path, "").Get("Cache-Control"); got != "no-store" {
			t.Errorf("%s: Cache-Control is %q", path, got)
		}
	}
	if got := headersOf(false, "/log/checkpoint", "public, max-age=5").Get("Cache-Control"); got != "public, max-age=5" {
		t.Errorf("what a handler makes public is %q", got)
	}
}

func TestNoBrowserGuessesATypeOrLeavesHTTPS(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/", "/v1/wallet", "/leaderboard", "/log/checkpoint", "/nothing"} {
		h := headersOf(true, path, "")
		if h.Get("X-Content-Type-Options") != "nosniff" || !strings.HasPrefix(h.Get("Strict-Transport-Security"), "max-age=") {
			t.Errorf("%s: %v", path, h)
		}
	}
	if h := headersOf(false, "/", ""); h.Get("Strict-Transport-Security") != "" {
		t.Error("a service without https keeps browsers from it")
	}
}
