// Package front handles every request before and after its handler: request id,
// CORS, rate limit, security headers, log line, panics and write deadlines. It
// is also where an error becomes a response.
//
// What always holds: each response has a request id. Each request is logged
// once, by its route and never by its URL, which may be signed. Errors.Answer
// alone turns errors into responses. The text of an unknown error stays in the
// log. Every write has a deadline, which moves with progress.
//
// The packages below door check credentials and use this package; it knows none
// of them. Start reading at Front.ServeHTTP, then error_response.go. response.go has
// the deadlines, rate_limit.go the limit, cors.go other origins, and
// stopping.go what a stop ends at once.
package front

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/ground/tracing"
	"svc.example/internal/work/identity/inflight"
)

// Front serves all routes. Its fields are set before the first request and not
// changed afterwards. It is safe for concurrent use.
type Front struct {
	// Routes has every route of every door.
	Routes *http.ServeMux
	// Elsewhere handles requests for another service at the same address; nil handles none.
	// They pass through everything here except Observe.
	Elsewhere Elsewhere
	Errors    *Errors
	Log       *slog.Logger
	// Serving ends when a stop of the service begins: see Waiting.
	Serving context.Context
	// Count takes n requests from the limits of a client and of its workspace. class
	// keeps the API and the workers' API apart. It is not called without a limit.
	Count func(ctx context.Context, class string, l ratelimit.Limits, c ratelimit.Claim, n int) (ratelimit.Decision, error)
	// Rate is the policy of each client of the API, FarmRate that of the workers'
	// API. The zero Policy lets every request pass.
	Rate, FarmRate ratelimit.Policy
	// Ledger records what each request costs and says which callers have spent too much; nil
	// records nothing. WorkspaceOf returns the workspace of a claim that Count has just taken.
	Ledger      *ratelimit.Ledger
	WorkspaceOf func(ratelimit.Claim) string
	// Follow follows a request until done, and calls end when its credential has
	// ended: see inflight.Requests. nil follows none.
	Follow func(ctx context.Context, end func(cause error)) (followed context.Context, done func())
	// Observe is called for each answered request with its registered route ("" when none
	// matched), its status and its duration. nil disables it.
	Observe func(route string, status int, took time.Duration)
	// TrustedHops is how many proxies in front of the service are trusted to
	// name the caller in X-Forwarded-For; 0 trusts none.
	TrustedHops int
	// WriteStall is how long a caller may read nothing of a response before it
	// is cut off; 0 means one minute.
	WriteStall time.Duration
	// HTTPS says that callers reach the service over https. Browsers are then
	// told to use only https.
	HTTPS bool

	pages  ratelimit.Local  // readers of public pages, by address
	shares ratelimit.Shares // of what all callers use up together
}

// Elsewhere is another service at the same address, with the same routes.
type Elsewhere interface {
	// Of reports whether a request is for it, and returns the request as its routes see it.
	// It must not query a database, because the rate limit comes after it.
	Of(r *http.Request) (*http.Request, bool)
	// Serve answers such a request, or returns an error and has written nothing.
	Serve(w http.ResponseWriter, r *http.Request) error
}

// ServeHTTP implements http.Handler. It writes a response and a log line also
// when the handler returns an error or panics.
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	requestID := requestIDOf(r)
	w.Header().Set(fault.RequestIDHeader, requestID)
	out := newResponse(w, f.WriteStall)
	if f.HTTPS {
		hostSession(r)
	}
	elsewhere := false
	if f.Elsewhere != nil {
		r, elsewhere = f.Elsewhere.Of(r)
	}
	// The route is looked up before it is served, because the log needs it for
	// requests that the limit refuses as well.
	_, route := f.Routes.Handler(r)
	if r.Method == http.MethodConnect {
		route = "" // for such a request ServeMux may return a path that the caller made up
	}
	ctx := fault.WithRequestID(context.WithValue(r.Context(), servingKey{}, f.Serving), requestID)
	ctx, workspace := inflight.WithWorkspaceRecord(ctx)
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	if f.Follow != nil {
		followed, done := f.Follow(ctx, func(cause error) { end(cause); out.cut() })
		defer done()
		ctx = followed
	}
	out.account = f.Ledger.Account()
	ctx = out.account.With(ctx)
	ctx, traced := tracing.Request(ctx, r, route)
	r = r.WithContext(ctx)
	out.body = trackBody(r)
	defer func() {
		if p := recover(); p != nil {
			f.recovered(out, r, p)
		}
		out.finish()
		defer out.drainRefused() // the log line does not wait for it
		if f.Observe != nil && !elsewhere {
			f.Observe(route, out.status, time.Since(began))
		}
		f.charge(out, r, workspace(), began)
		line := []slog.Attr{
			slog.String("method", r.Method), slog.String("route", pathOf(route)),
			slog.Int("status", out.status), slog.Int64("ms", time.Since(began).Milliseconds()), slog.Int64("bytes", out.bytes),
			slog.String("request_id", requestID), slog.String("workspace_id", workspace()),
		}
		if elsewhere {
			line = append(line, slog.Bool("test", true))
		}
		if id := tracing.ID(ctx); id != "" {
			line = append(line, slog.String("trace_id", id))
		}
		f.Log.LogAttrs(ctx, levelOf(route, out.status), "request", line...)
		traced(out.status, workspace())
	}()
	if err := f.serve(out, r, route, elsewhere); err != nil {
		f.Errors.Answer(out, r, err)
	}
}

// charge adds a request to what its workspace has cost, or its address if it has none. Workers
// are not charged: their requests serve the service, and people may share their address. A
// request that failed because of an outage has waited, not worked.
func (f *Front) charge(out *response, r *http.Request, workspace string, began time.Time) {
	if ofWorkers(r.URL.Path) {
		return
	}
	spent := out.account.Spent(cmp.Or(workspace, addressOf(r, f.TrustedHops)), began, out.body.received())
	if out.status == http.StatusServiceUnavailable {
		spent.Busy = 0 // what it computed, it has used in any case
	}
	f.Ledger.Charge(spent)
}

// serve passes the request to its route. The rate limit comes before everything
// that costs: a client beyond its limit must not even cause a query.
//
// Errors: those of meter.count, meter.spends, checkText and checkEncoding, route_not_found, method_not_allowed.
func (f *Front) serve(w http.ResponseWriter, r *http.Request, route string, elsewhere bool) error {
	f.setHeaders(w.Header(), r.URL.Path)
	if anyOrigin(r.URL.Path) {
		allowAnyOrigin(w.Header())
		if r.Method == http.MethodOptions {
			return f.preflight(w, r)
		}
	}
	if m := f.meterOf(w.Header(), r); m != nil {
		if err := m.count(r.Context(), 1); err != nil {
			return err
		}
		if err := m.spends(); err != nil {
			return err
		}
		r = r.WithContext(f.shares.Of(context.WithValue(r.Context(), meterKey{}, m), m.claim.Address))
	}
	if err := checkText(r.URL); err != nil {
		return err
	}
	if err := checkEncoding(r); err != nil {
		return err
	}
	if route == "" {
		return missOf(f.Routes, r)
	}
	if elsewhere {
		return f.Elsewhere.Serve(w, r)
	}
	f.Routes.ServeHTTP(w, r)
	return nil
}

// recovered writes a response for a handler that panicked. Once a handler has
// begun to write, the response can only break off. http.ErrAbortHandler is the
// standard way to do that, so it is passed on to net/http.
func (f *Front) recovered(out *response, r *http.Request, p any) {
	if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(p) // net/http closes the connection
	}
	f.Log.Error("handler panicked", "request_id", out.Header().Get(fault.RequestIDHeader), "panic", p, "stack", string(debug.Stack()))
	if out.status == 0 {
		f.Errors.Answer(out, r, fault.New(fault.Internal, "Something went wrong on our side."))
	}
}

// levelOf is the level of a request's log line. Workers report every two seconds: that all is
// well is told at debug.
func levelOf(route string, status int) slog.Level {
	if status < http.StatusBadRequest && ofWorkers(pathOf(route)) && strings.HasSuffix(route, "/heartbeat") {
		return slog.LevelDebug
	}
	return slog.LevelInfo
}
