package app

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"regexp"
	"runtime/debug"
	"strings"
	"time"

	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/work/identity"
)

// front is what every request passes: it gets an id, is counted and logged as
// one line, and meets the envelope when the router knows no route or a handler
// panics.
type front struct {
	mux *http.ServeMux
	log *slog.Logger
	// take counts a request; nil counts none.
	take func(ctx context.Context, class string, p ratelimit.Policy, c ratelimit.Claim) (ratelimit.Decision, error)
	// rate is for the API, farm for the workers' door.
	rate, farm ratelimit.Policy
	hops       int // proxies that are believed
}

func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	requestID := requestIDOf(r)
	w.Header().Set(fault.RequestIDHeader, requestID)
	seen := &recorder{ResponseWriter: w}
	_, route := f.mux.Handler(r)
	ctx, workspace := identity.Watched(r.Context())
	defer func() {
		if p := recover(); p != nil {
			if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(p)
			}
			f.log.Error("handler panicked", "request_id", requestID, "panic", p, "stack", string(debug.Stack()))
			if seen.status == 0 {
				fault.Respond(seen, fault.New(fault.Internal, "Something went wrong on our side."))
			}
		}
		if seen.status == 0 {
			seen.status = http.StatusOK // net/http writes it for a handler that wrote nothing
		}
		// The pattern, never the path with its query: that may be a signed link.
		f.log.LogAttrs(ctx, slog.LevelInfo, "request", slog.String("method", r.Method), slog.String("route", pathOf(route)),
			slog.Int("status", seen.status), slog.Int64("ms", time.Since(began).Milliseconds()), slog.Int64("bytes", seen.bytes),
			slog.String("request_id", requestID), slog.String("workspace", workspace()))
	}()
	f.answer(seen, r.WithContext(ctx), route)
}

// answer is the way of one request: other origins, the rate, the route.
func (f *front) answer(w http.ResponseWriter, r *http.Request, route string) {
	if anyOrigin(r.URL.Path) {
		allowAnyOrigin(w.Header())
		if r.Method == http.MethodOptions {
			f.preflight(w, r)
			return
		}
	}
	if err := f.limit(w.Header(), r); err != nil {
		fault.Respond(w, err)
		return
	}
	if err := isText(r.URL); err != nil {
		fault.Respond(w, err)
		return
	}
	if route == "" {
		fault.Respond(w, miss(f.mux, r))
		return
	}
	f.mux.ServeHTTP(w, r)
}

// pathOf is a route's pattern without the method; "-" when there is no route.
func pathOf(pattern string) string {
	if pattern == "" {
		return "-"
	}
	return pattern[strings.Index(pattern, "/"):]
}

var requestIDForm = regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`)

// requestIDOf keeps a caller's own id when it is well formed.
func requestIDOf(r *http.Request) string {
	if own := r.Header.Get(fault.RequestIDHeader); requestIDForm.MatchString(own) {
		return own
	}
	return id.New(id.Request)
}

// miss tells a wrong path from a wrong method.
func miss(mux *http.ServeMux, r *http.Request) error {
	probe := &recorder{ResponseWriter: discarded{http.Header{}}}
	mux.ServeHTTP(probe, r)
	if probe.status == http.StatusMethodNotAllowed {
		e := fault.New(fault.MethodNotAllowed, "%s is not a method of %s.", r.Method, r.URL.Path)
		e.Allow = probe.Header().Get("Allow")
		return e
	}
	return fault.New(fault.RouteNotFound, "There is no route %s.", r.URL.Path)
}

// discarded is a response that goes nowhere.
type discarded struct{ header http.Header }

func (d discarded) Header() http.Header         { return d.header }
func (d discarded) Write(p []byte) (int, error) { return len(p), nil }
func (d discarded) WriteHeader(int)             {}

// recorder notes what became of a response.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int64
}

// Unwrap lets http.ResponseController reach the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(p []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	n, err := r.ResponseWriter.Write(p)
	r.bytes += int64(n)
	return n, err
}
