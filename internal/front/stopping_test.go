package front

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"svc.example/internal/test/await"
	"svc.example/internal/work/identity/inflight"
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
		t.Errorf("a waiting caller gets %d %v", w.Code, w.Header())
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

// TestAnEndedRequestIsToldWhyOrCutOff ends requests that wait, that answer afterwards, that
// stream, and that send a file to a caller that reads nothing.
func TestAnEndedRequestIsToldWhyOrCutOff(t *testing.T) {
	t.Parallel()
	large := bytes.Repeat([]byte("x"), 64<<20) // more than the buffers of a connection
	mux := http.NewServeMux()
	f := newFront(mux, slog.DiscardHandler)
	f.WriteStall = time.Hour
	ends := make(chan func(error), 1)
	ended := make(chan error, 1)
	// Authentication needs a database, so the test ends requests in its place.
	handle := func(path string, h Handler) {
		mux.Handle("GET "+path, f.Errors.Handle(h))
	}
	handle("/farm/wait", func(_ http.ResponseWriter, r *http.Request) error {
		waiting, cancel := Waiting(r.Context())
		defer cancel()
		<-waiting.Done()
		return fmt.Errorf("read the queue: %w", waiting.Err())
	})
	handle("/farm/stream", func(w http.ResponseWriter, r *http.Request) error {
		_, _ = io.WriteString(w, "begun")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		_, err := io.WriteString(w, "more")
		ended <- err
		return nil
	})
	handle("/farm/file", func(w http.ResponseWriter, _ *http.Request) error {
		_, err := w.Write(large)
		ended <- err
		return nil
	})
	f.Follow = func(ctx context.Context, end func(error)) (context.Context, func()) {
		ends <- end
		return ctx, func() {}
	}
	server := httptest.NewServer(f)
	defer server.Close()
	begin := func(path string) (answer <-chan *http.Response) {
		got := make(chan *http.Response, 1)
		go func() {
			a, err := http.Get(server.URL + path)
			if err != nil {
				t.Error(err)
			}
			got <- a
		}()
		return got
	}

	waits := begin("/farm/wait")
	await.Next(t, ends, "a request")(inflight.ErrEnded)
	a := await.Next(t, waits, "the answer to what waited")
	text, _ := io.ReadAll(a.Body)
	if a.StatusCode != http.StatusUnauthorized || !strings.Contains(string(text), "unauthenticated") {
		t.Errorf("a waiting caller gets %s %s", a.Status, text)
	}
	for _, path := range []string{"/farm/stream", "/farm/file"} {
		answer := await.Next(t, begin(path), path)
		await.Next(t, ends, "a request")(inflight.ErrEnded)
		if err := await.Next(t, ended, "the end of "+path); err == nil {
			t.Errorf("%s continues", path)
		}
		if _, err := io.ReadAll(answer.Body); err == nil {
			t.Errorf("%s reads as whole", path)
		}
		_ = answer.Body.Close()
	}
}

func TestAnEndedRequestIsNotReadFurther(t *testing.T) {
	t.Parallel()
	ctx, end := context.WithCancelCause(t.Context())
	b := &requestBody{ReadCloser: io.NopCloser(strings.NewReader("a file")), ctx: ctx}
	if n, err := b.Read(make([]byte, 2)); n != 2 || err != nil {
		t.Fatalf("before: %d %v", n, err)
	}
	end(inflight.ErrEnded)
	if n, err := b.Read(make([]byte, 2)); n != 0 || !errors.Is(err, inflight.ErrEnded) {
		t.Errorf("after: %d %v", n, err)
	}
}
