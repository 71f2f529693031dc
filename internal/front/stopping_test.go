package front

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestReadinessGoesOffWhenAStopBeginsAndLivenessStays(t *testing.T) {
	t.Parallel()
	serving, stop := context.WithCancel(t.Context())
	broken := error(nil)
	mux := http.NewServeMux()
	f := newFront(mux, slog.DiscardHandler)
	f.Serving = serving
	Probes(serving, mux, f.Errors, func(context.Context) error { return broken })
	expect := func(when string, live, ready int) {
		t.Helper()
		for path, want := range map[string]int{"/livez": live, "/readyz": ready} {
			w := httptest.NewRecorder()
			f.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
			if w.Code != want {
				t.Errorf("%s %s answers %d: %s", when, path, w.Code, w.Body)
			}
		}
	}
	expect("at first", 200, 200)
	broken = io.ErrUnexpectedEOF
	expect("without a database", 200, 503)
	broken = nil
	stop()
	expect("in a stop", 200, 503)
}

func TestAStopEndsWhatOnlyWaits(t *testing.T) {
	t.Parallel()
	serving, stop := context.WithCancel(t.Context())
	mux := http.NewServeMux()
	f := newFront(mux, slog.DiscardHandler)
	f.Serving = serving
	mux.Handle("GET /farm/wait", f.Errors.Handle(func(_ http.ResponseWriter, r *http.Request) error {
		waiting, cancel := Waiting(r.Context())
		defer cancel()
		stop()
		<-waiting.Done()
		if r.Context().Err() != nil {
			t.Error("the request is cancelled too")
		}
		return context.Cause(waiting)
	}))
	w := httptest.NewRecorder()
	f.ServeHTTP(w, httptest.NewRequest("GET", "/farm/wait", nil))
	if w.Code != 503 || w.Header().Get("Retry-After") != "1" {
		t.Errorf("who waits is told %d %v", w.Code, w.Header())
	}
}

func TestAWaitEndsWithItsRequest(t *testing.T) {
	t.Parallel()
	request, cancelRequest := context.WithCancel(t.Context())
	waiting, cancel := Waiting(request)
	defer cancel()
	cancelRequest()
	<-waiting.Done()
	if errors.Is(context.Cause(waiting), ErrStopping) {
		t.Error("the end of a request is taken for a stop")
	}
}
