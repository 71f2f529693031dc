package fault

import (
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
)

// RequestIDHeader carries the request id on every response; its value is also
// error.request_id.
const RequestIDHeader = "X-Request-Id"

// Body is the error body of spec 7. OK is false in every one.
type Body struct {
	OK    bool `json:"ok" enum:"false" doc:"Always false on errors."`
	Error Wire `json:"error"`
}

// Wire is the error member of Body. The tags also make its schema in the OpenAPI
// document.
type Wire struct {
	Code              Code     `json:"code" doc:"Stable machine-readable code."`
	Message           string   `json:"message" doc:"What went wrong, for a person."`
	Retryable         bool     `json:"retryable" doc:"True when the same request can succeed later."`
	SuggestedAction   string   `json:"suggested_action" doc:"What to do next."`
	RequestID         string   `json:"request_id,omitempty" doc:"The response's X-Request-Id."`
	RetryAfterSeconds *float64 `json:"retry_after_seconds,omitempty" minimum:"0" doc:"Seconds to wait before the next try."`
	Detail            any      `json:"detail,omitempty" doc:"What helps a program react; its shape depends on code."`
}

// Envelope turns any error into an HTTP status and a body. An error that wraps no
// Error becomes internal_error without its text, which may contain SQL, paths or
// personal data. A failure code of a job has no status of its own and gets 500.
func Envelope(err error, requestID string) (int, Body) {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		e = New(Internal, "Something went wrong on our side.")
	}
	row := Lookup(e.Code)
	status := row.Status
	// Failure codes of jobs have no status of their own.
	if status == 0 {
		status = http.StatusInternalServerError
	}
	w := Wire{Code: e.Code, Message: e.Message, Retryable: row.Retryable && !e.Final, SuggestedAction: row.Action, RequestID: requestID, Detail: e.Detail}
	if e.Action != "" {
		w.SuggestedAction = e.Action
	}
	if e.RetryAfter > 0 {
		s := e.RetryAfter.Seconds()
		w.RetryAfterSeconds = &s
	}
	return status, Body{Error: w}
}

// Headers sets the headers that belong to err: Retry-After, Allow and
// WWW-Authenticate. An error that wraps no Error has none. It is called before the
// status is written.
func Headers(h http.Header, err error) {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return
	}
	if e.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(e.RetryAfter.Seconds()))))
	}
	if e.Allow != "" {
		h.Set("Allow", e.Allow)
	}
	if e.Code == Unauthenticated || (e.Code == InsufficientScope && e.Challenge != "") {
		h.Set("WWW-Authenticate", strings.TrimSpace("Bearer "+e.Challenge))
	}
}

// Markdown prints the vocabulary as docs/errors.md. `make generate` writes it
// there.
func Markdown() string {
	var b strings.Builder
	b.WriteString("# Error codes\n\nPrinted from `internal/ground/fault` by `make generate`; do not edit.\n\n" +
		"If your program or you got an error, look up its code here. Every error has the body `{\"ok\": false, \"error\": {code, message, retryable, suggested_action, request_id, …}}`.\n" +
		"`retryable` true means that the same request can succeed later.\n")
	for _, part := range []struct {
		door  Door
		title string
	}{
		{DoorAPI, "Errors of the API"},
		{DoorFarm, "Errors of the workers' API"},
		{DoorJob, "Why a job failed (`failure.code`)"},
		{DoorOperator, "Refusals of svc admin and the operators' API"},
	} {
		b.WriteString("\n## " + part.title + "\n\n| code | status | retryable | what to do |\n|---|---|---|---|\n")
		for _, row := range Table() {
			if row.Door != part.door {
				continue
			}
			status := "-"
			if row.Status != 0 {
				status = strconv.Itoa(row.Status)
			}
			b.WriteString("| `" + string(row.Code) + "` | " + status + " | " + strconv.FormatBool(row.Retryable) + " | " + row.Action + " |\n")
		}
	}
	return b.String()
}
