// Package front handles every request before and after its handler: the request
// id, CORS, the rate limit, security headers, the log line, panics and write
// deadlines. It is also where an error becomes an answer.
//
// What always holds: each response has a request id; each request is logged once,
// by its route and never by its URL, which may be signed; Errors.Answer alone turns
// errors into answers; the text of an unknown error stays in the log; every write
// has a deadline, which moves with progress.
//
// The packages below door check credentials and use this package; it knows none of
// them. Start reading at Front.ServeHTTP, then errors.go; response.go has the
// deadlines, serving.go the beginning of a stop.
package front

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/work/identity"
)

// Front serves all routes.
type Front struct {
	Routes *http.ServeMux
	Errors *Errors
	Log    *slog.Logger
	// Serving ends when a stop begins: see Waiting.
	Serving context.Context
	// Count counts a request of a client. It is not called for a Policy without
	// limits.
	Count func(ctx context.Context, class string, p ratelimit.Policy, c ratelimit.Claim) (ratelimit.Decision, error)
	// Rate is for the API, FarmRate for the API of the workers.
	Rate, FarmRate ratelimit.Policy
	// TrustedHops is how many proxies in front may name the caller's address.
	TrustedHops int
	// WriteStall is how long a caller may read nothing of an answer; 0 means a
	// minute.
	WriteStall time.Duration
}

// ServeHTTP answers a request, also when its handler fails or panics.
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	requestID := requestIDOf(r)
	w.Header().Set(fault.RequestIDHeader, requestID)
	out := newResponse(w, f.WriteStall)
	_, route := f.Routes.Handler(r)
	ctx, workspace := identity.WithWorkspaceRecord(context.WithValue(r.Context(), servingKey{}, f.Serving))
	r = r.WithContext(ctx)
	defer func() {
		if p := recover(); p != nil {
			f.recovered(out, r, p)
		}
		out.finish()
		f.Log.LogAttrs(ctx, slog.LevelInfo, "request", slog.String("method", r.Method), slog.String("route", pathOf(route)),
			slog.Int("status", out.status), slog.Int64("ms", time.Since(began).Milliseconds()), slog.Int64("bytes", out.bytes),
			slog.String("request_id", requestID), slog.String("workspace", workspace()))
	}()
	if err := f.serve(out, r, route); err != nil {
		f.Errors.Answer(out, r, err)
	}
}

// serve passes the request to its route. Errors: those of limit and checkText,
// route_not_found, method_not_allowed.
func (f *Front) serve(w http.ResponseWriter, r *http.Request, route string) error {
	setNosniff(w.Header(), r.URL.Path)
	if anyOrigin(r.URL.Path) {
		allowAnyOrigin(w.Header())
		if r.Method == http.MethodOptions {
			return f.preflight(w, r)
		}
	}
	if err := f.limit(w.Header(), r); err != nil {
		return err
	}
	if err := checkText(r.URL); err != nil {
		return err
	}
	if route == "" {
		return missOf(f.Routes, r)
	}
	f.Routes.ServeHTTP(w, r)
	return nil
}

// recovered answers for a handler that panicked before it wrote anything.
func (f *Front) recovered(out *response, r *http.Request, p any) {
	if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(p) // net/http closes the connection
	}
	f.Log.Error("handler panicked", "request_id", out.Header().Get(fault.RequestIDHeader), "panic", p, "stack", string(debug.Stack()))
	if out.status == 0 {
		f.Errors.Answer(out, r, fault.New(fault.Internal, "Something went wrong on our side."))
	}
}
