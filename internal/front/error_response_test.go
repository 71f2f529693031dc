package front

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"svc.example/internal/ground/fault"
)

// answerTo is what err becomes as the answer to a request, and what of it is
// logged.
func answerTo(t *testing.T, r *http.Request, err error) (w *httptest.ResponseRecorder, log string) {
	t.Helper()
	var text strings.Builder
	e := &Errors{Log: slog.New(slog.NewTextHandler(&text, nil)), Page: func(w http.ResponseWriter, _ *http.Request, status int, body fault.Body) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "<h1>"+body.Error.Message)
	}}
	w = httptest.NewRecorder()
	w.Header().Set(fault.RequestIDHeader, "req_1")
	e.Handle(func(http.ResponseWriter, *http.Request) error { return err }).ServeHTTP(w, r)
	return w, text.String()
}

func TestAnUnknownErrorIsLoggedOnceAndToldByItsRequestID(t *testing.T) {
	t.Parallel()
	w, log := answerTo(t, httptest.NewRequest("GET", "/v1/thing", nil), errors.New("pq: password of user svc is hunter2"))
	var body fault.Body
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
		t.Fatal(err)
	}
	if w.Code != 500 || strings.Contains(w.Body.String(), "hunter2") || body.OK || body.Error.Code != fault.Internal || body.Error.RequestID != "req_1" {
		t.Errorf("answered %d %s", w.Code, w.Body)
	}
	if strings.Count(log, "hunter2") != 1 || !strings.Contains(log, "request_id=req_1") {
		t.Errorf("logged %s", log)
	}
}

func TestACauseIsNotToldAndTheHeadersOfAnErrorAre(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("store upload: %w", fault.New(fault.Unavailable, "Cannot store the file now.").Wrap(errors.New("disk sda1 is full")).After(1500*time.Millisecond))
	w, log := answerTo(t, httptest.NewRequest("GET", "/v1/thing", nil), err)
	if strings.Count(log, "sda1") != 1 {
		t.Errorf("the operator reads %q, not the cause", log)
	}
	if _, log := answerTo(t, httptest.NewRequest("GET", "/v1/thing", nil), fault.New(fault.NotAcceptingJobs, "Not now.")); log != "" {
		t.Errorf("a refusal that was decided on is logged: %s", log)
	}
	if w.Code != 503 || strings.Contains(w.Body.String(), "sda1") || !strings.Contains(w.Body.String(), `"retry_after_seconds":1.5`) {
		t.Errorf("answered %d %s", w.Code, w.Body)
	}
	if w.Header().Get("Retry-After") != "2" || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("headers are %v", w.Header())
	}
	w, _ = answerTo(t, httptest.NewRequest("GET", "/v1/thing", nil), fault.New(fault.Unauthenticated, "No key."))
	if w.Header().Get("WWW-Authenticate") != "Bearer" {
		t.Errorf("headers of unauthenticated are %v", w.Header())
	}
}

func TestABrowserIsToldOfAnErrorByAPageAndAProgramByJSON(t *testing.T) {
	t.Parallel()
	const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	for _, c := range []struct {
		path, accept string
		page         bool
	}{
		{"/nothing", browser, true},
		{"/nothing", "*/*", false},
		{"/nothing", "", false},
		{"/console/webhooks", "application/json", false},
		{"/v1/thing", browser, false},
		{"/node/v1/thing", browser, false},
		{"/mcp", browser, false},
		{"/farm/v1/lease", browser, false},
		{"/log/checkpoint", browser, false},
		{"/openapi.json", browser, false},
	} {
		r := httptest.NewRequest("GET", c.path, nil)
		r.Header.Set("Accept", c.accept)
		w, _ := answerTo(t, r, fault.New(fault.RouteNotFound, "Not here."))
		if page := w.Header().Get("Content-Type") == "text/html"; page != c.page || w.Code != 404 {
			t.Errorf("%s for %q is answered %d with %s", c.path, c.accept, w.Code, w.Header().Get("Content-Type"))
		}
	}
}

// TestWhatAStopCutsOffIsToldToComeBack: whatever the handler did with its
// cancelled context.
func TestWhatAStopCutsOffIsToldToComeBack(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(ErrStopping)
	w, log := answerTo(t, httptest.NewRequestWithContext(ctx, "GET", "/v1/thing", nil), fmt.Errorf("read: %w", ctx.Err()))
	if w.Code != 503 || w.Header().Get("Retry-After") != "1" || log != "" {
		t.Errorf("answered %d %v, logged %q", w.Code, w.Header(), log)
	}
}

func TestAFullDiskAsksTheCallerToRetry(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("store upload: %w", &fs.PathError{Op: "write", Path: "/data/blobs/x", Err: syscall.ENOSPC})
	w, log := answerTo(t, httptest.NewRequest("POST", "/v1/uploads", nil), err)
	if w.Code != 503 || w.Header().Get("Retry-After") != "30" || strings.Contains(w.Body.String(), "/data") || !strings.Contains(w.Body.String(), `"retryable":true`) {
		t.Errorf("answered %d %v %s", w.Code, w.Header(), w.Body)
	}
	if strings.Count(log, "/data/blobs/x") != 1 {
		t.Errorf("the operator reads %q", log)
	}
}

// TestProgramsThatAskForTokensGetErrorsInTheirOwnForm: their libraries read error as a text
// (RFC 6749 5.2), whatever refuses them, and a browser's page at the same address stays one.
func TestProgramsThatAskForTokensGetErrorsInTheirOwnForm(t *testing.T) {
	t.Parallel()
	e := &Errors{Log: slog.New(slog.DiscardHandler)}
	for _, c := range []struct {
		method, path string
		err          error
		status       int
		want         string
	}{
		{"POST", "/oauth/token", fault.New(fault.RateLimited, "Too many.").After(time.Second), 429, "temporarily_unavailable"},
		{"POST", "/oauth/device", fault.New(fault.Unavailable, "Away."), 503, "temporarily_unavailable"},
		{"POST", "/oauth/register", errors.New("broken"), 500, "server_error"},
		{"POST", "/oauth/revoke", fault.New(fault.EncodingNotSupported, "Compressed."), 415, "invalid_request"},
		{"GET", "/oauth/device", fault.New(fault.RateLimited, "Too many.").After(time.Second), 429, ""},
		{"POST", "/v1/renders", fault.New(fault.RateLimited, "Too many.").After(time.Second), 429, ""},
	} {
		w := httptest.NewRecorder()
		e.Answer(w, httptest.NewRequest(c.method, c.path, nil), c.err)
		var body struct {
			OK          *bool  `json:"ok"`
			Error       any    `json:"error"`
			Description string `json:"error_description"`
		}
		if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || w.Code != c.status {
			t.Fatalf("%s %s: %d %s", c.method, c.path, w.Code, w.Body)
		}
		if text, _ := body.Error.(string); text != c.want || (c.want == "") != (body.OK != nil) || (c.want != "" && body.Description == "") {
			t.Errorf("%s %s: %s", c.method, c.path, w.Body)
		}
		if c.status == 429 && w.Header().Get("Retry-After") == "" {
			t.Errorf("%s %s does not say when to come back", c.method, c.path)
		}
	}
}
