package front

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"svc.example/internal/ground/fault"
)

func newFront(routes *http.ServeMux, log slog.Handler) *Front {
	logger := slog.New(log)
	return &Front{Serving: context.Background(), Routes: routes, Errors: &Errors{Log: logger}, Log: logger}
}

func serveFront(t *testing.T, method, path string, header http.Header) *httptest.ResponseRecorder {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /thing/{id}", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "thing") })
	mux.HandleFunc("POST /thing/{id}", func(http.ResponseWriter, *http.Request) { panic(errors.New("secret of the service")) })
	r := httptest.NewRequest(method, path, nil)
	for name, values := range header {
		r.Header[name] = values
	}
	w := httptest.NewRecorder()
	newFront(mux, slog.DiscardHandler).ServeHTTP(w, r)
	return w
}

func TestMissesAndPanicsWearTheEnvelope(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		method, path string
		status       int
		code         fault.Code
	}{
		{"GET", "/nothing", 404, fault.RouteNotFound},
		{"GET", "/thing/1/2", 404, fault.RouteNotFound},
		{"PUT", "/thing/1", 405, fault.MethodNotAllowed},
		{"POST", "/thing/1", 500, fault.Internal},
	} {
		w := serveFront(t, c.method, c.path, nil)
		var body fault.Body
		if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
			t.Fatalf("%s %s: %v in %s", c.method, c.path, err, w.Body)
		}
		if w.Code != c.status || body.Error.Code != c.code || body.Error.RequestID == "" || body.Error.RequestID != w.Header().Get("X-Request-Id") {
			t.Errorf("%s %s: %d %+v", c.method, c.path, w.Code, body)
		}
		if strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%s %s reveals a secret: %s", c.method, c.path, w.Body)
		}
		if allow := w.Header().Get("Allow"); (c.status == 405) != (allow == "GET, HEAD, POST") {
			t.Errorf("%s %s: Allow is %q", c.method, c.path, allow)
		}
	}
}

// TestACallerWhoLeavesIsNoFailureOfOurs: a long poll that its worker cuts off is daily
// business, and must not look like a broken service in the log.
func TestACallerWhoLeavesIsNoFailureOfOurs(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	f := newFront(http.NewServeMux(), slog.NewTextHandler(&log, nil))
	ctx, leave := context.WithCancel(t.Context())
	f.Routes.Handle("GET /wait", f.Errors.Handle(func(_ http.ResponseWriter, r *http.Request) error {
		leave()
		return fmt.Errorf("read: %w", r.Context().Err())
	}))
	f.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "GET", "/wait", nil))
	if got := log.String(); !strings.Contains(got, "status=499") || strings.Contains(got, "level=ERROR") {
		t.Error(got)
	}
}

func TestHeadWorksWhereGetDoes(t *testing.T) {
	t.Parallel()
	if w := serveFront(t, "HEAD", "/thing/1", nil); w.Code != 200 {
		t.Fatalf("got %d", w.Code)
	}
}

func TestACallersOwnRequestIDIsKeptWhenWellFormed(t *testing.T) {
	t.Parallel()
	for own, kept := range map[string]bool{
		"abc.DEF_1-2": true, strings.Repeat("x", 128): true, strings.Repeat("x", 129): false, "": false, "a b": false, "a\x00": false, "ä": false,
	} {
		w := serveFront(t, "GET", "/thing/1", http.Header{"X-Request-Id": {own}})
		got := w.Header().Get("X-Request-Id")
		if kept != (got == own) || got == "" {
			t.Errorf("sent %q, got %q", own, got)
		}
	}
}
