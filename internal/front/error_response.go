package front

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/links"
	"svc.example/internal/ground/plainjson"
)

// Errors turns errors into responses. Nothing else does, so an error cannot
// reach a caller in a second form. It is safe for concurrent use.
type Errors struct {
	Log *slog.Logger
	// Page writes an error as a page for browsers; nil means that browsers get
	// JSON. The headers that belong to the error are set before the call.
	Page func(w http.ResponseWriter, r *http.Request, status int, body fault.Body)
	// Agent answers a request of links.AgentPath in an agent's form, and reports whether it
	// has; nil means that agents get the envelope. The headers that belong to the error are
	// set before the call.
	Agent func(w http.ResponseWriter, r *http.Request, err error) bool
}

// Handler serves a request or returns an error. If it returns an error it has
// written nothing.
type Handler func(w http.ResponseWriter, r *http.Request) error

// Handle returns h as an http.Handler that writes h's errors.
func (e *Errors) Handle(h Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := h(w, r); err != nil {
			e.Answer(w, r, err)
		}
	})
}

// Answer writes err as the whole response: an error page for a browser that
// accepts HTML, otherwise the envelope of spec 7. The request id is the one in
// the response's headers.
//
// A failure of ours is logged here with its cause, under the request id that the
// caller gets. A request that was cancelled by a stop or by the end of its
// credential is answered with that reason, whatever its handler returned.
func (e *Errors) Answer(w http.ResponseWriter, r *http.Request, err error) {
	err = duringOutage(EndReason(r.Context(), err))
	h := w.Header()
	requestID := h.Get(fault.RequestIDHeader)
	status, body := fault.Envelope(err, requestID)
	if status == http.StatusInternalServerError && r.Context().Err() != nil {
		// Its reader is gone, and its error is usually the cancellation itself.
		w.WriteHeader(statusCallerGone)
		return
	}
	if status >= http.StatusInternalServerError && hasCause(err) {
		e.Log.LogAttrs(r.Context(), slog.LevelError, "request failed",
			slog.String("method", r.Method), slog.String("route", pathOf(r.Pattern)), slog.String("request_id", requestID), slog.Any("err", err))
	}
	fault.Headers(h, err)
	h.Set("Cache-Control", "no-store")
	if e.Agent != nil && strings.TrimSuffix(r.URL.Path, "/") == links.AgentPath && e.Agent(w, r, err) {
		return
	}
	if e.Page != nil && !isForPrograms(r.URL.Path) {
		h.Add("Vary", "Accept")
		if AcceptsHTML(r.Header.Get("Accept")) {
			e.Page(w, r, status, body)
			return
		}
	}
	h.Set("Content-Type", "application/json")
	w.WriteHeader(status)
	var out any = body
	if speaksOAuth(r) {
		out = oauthError(status, body)
	}
	// The status is out; a failed write means the caller is gone.
	_ = plainjson.Write(w, out)
}

// oauthError is an error in the form that programs expect of an authorization server (RFC
// 6749 5.2): there error is a text.
func oauthError(status int, body fault.Body) map[string]string {
	code := "invalid_request"
	switch {
	case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable:
		code = "temporarily_unavailable"
	case status >= http.StatusInternalServerError:
		code = "server_error"
	}
	return map[string]string{"error": code, "error_description": body.Error.Message, "request_id": body.Error.RequestID}
}

// statusCallerGone is the status in the log for a caller that did not wait for the
// answer, as in nginx. 500 would count as a failure of ours.
const statusCallerGone = 499

// retryAfterFull is when to retry while a disk is full: an operator must free
// space first.
const retryAfterFull = 30 * time.Second

// hasCause reports whether an error has more to say than its answer does. A
// deliberate refusal, such as not_accepting_jobs, does not.
func hasCause(err error) bool {
	f, known := errors.AsType[*fault.Error](err)
	return !known || f.Code == fault.Internal || f.Unwrap() != nil
}

// AcceptsHTML reports whether an Accept header asks for a page. Browsers name
// text/html; programs send */* or nothing.
func AcceptsHTML(accept string) bool { return strings.Contains(accept, "text/html") }
