// Package fault is the one vocabulary of errors: every code that a caller can meet,
// its HTTP status, whether a retry can help, and what to do next.
//
// What always holds: each code is in one table (error_codes.go). The text of an
// unknown error is never shown; Envelope turns it into internal_error, and only its
// request id goes out. Package front does the logging and answering. This package
// imports no other package of svc. Start reading at Code, then Error, then
// Envelope.
package fault

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Error is an error that a caller may see. Message is written for that caller; the
// wrapped cause is for the log only. An Error is never changed after it is made:
// With and its kin return copies, so that a package may keep one and derive others
// from it concurrently.
type Error struct {
	// Code selects the row of the table, and with it the HTTP status.
	Code Code
	// Message is one sentence for the caller, about this request.
	Message string
	// Detail is any JSON value that helps a program react; its shape depends on the
	// code (spec 7).
	Detail any
	// RetryAfter, when above zero, is sent as retry_after_seconds, and as
	// Retry-After rounded up to whole seconds.
	RetryAfter time.Duration
	// Action replaces the code's standard suggested_action when not empty.
	Action string
	// Final reports that a retry cannot help here, whatever the table says of the
	// code.
	Final bool
	// Allow is sent as the Allow header of a 405.
	Allow string
	// Challenge has the parameters of the WWW-Authenticate header, as Challenged
	// writes them.
	Challenge string
	// cause is what went wrong underneath. It reaches the log and never the caller.
	cause error
}

// New makes an error of a code, with a message for the caller. The message must not
// carry the text of another error, which may name paths or statements; Wrap is for
// that.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Field reports one bad member or parameter, by the code invalid_request with the
// detail [{location, message}] (decisions 10). location is written as
// "body.quote_id" or "query.limit"; the text says what is wrong with it, such as
// "must be 1 to 10".
func Field(location, format string, args ...any) *Error {
	return Fields([]FieldDetail{{Location: location, Message: fmt.Sprintf(format, args...)}})
}

// Fields is Field for all that is wrong with a request. The message is about the first;
// there is one at least.
func Fields(wrong []FieldDetail) *Error {
	return New(InvalidRequest, "%s %s.", wrong[0].name(), wrong[0].Message).With(wrong)
}

// name is the location as a sentence about it begins.
func (d FieldDetail) name() string {
	where, name, found := strings.Cut(d.Location, ".")
	switch {
	case where == "body" && found:
		return name
	case where == "query" && found:
		return "The query parameter " + name
	case where == "path" && found:
		return "The path parameter " + name
	case where == "header" && found:
		return "The header " + name
	case where == "body", where == "request":
		return "The request body"
	}
	return d.Location
}

// FieldDetail is one entry of invalid_request's detail.
type FieldDetail struct {
	Location string `json:"location" doc:"Where the value stands, such as body.quote_id or query.limit."`
	Message  string `json:"message" doc:"What is wrong with it."`
}

// With returns a copy that carries detail.
func (e *Error) With(detail any) *Error {
	c := *e
	c.Detail = detail
	return &c
}

// WithAction returns a copy with another suggested action than the code's own.
func (e *Error) WithAction(action string) *Error {
	c := *e
	c.Action = action
	return &c
}

// NotRetryable returns a copy that tells the caller not to try again.
func (e *Error) NotRetryable() *Error {
	c := *e
	c.Final = true
	return &c
}

// After returns a copy that tells the caller to wait d before trying again.
func (e *Error) After(d time.Duration) *Error {
	c := *e
	c.RetryAfter = d
	return &c
}

// Challenged returns a copy with one more parameter of the WWW-Authenticate header,
// such as scope="render:read" (RFC 6750 3). The value must be printable ASCII without
// quotes and backslashes.
func (e *Error) Challenged(name, value string) *Error {
	c := *e
	if c.Challenge != "" {
		c.Challenge += ", "
	}
	c.Challenge += name + `="` + value + `"`
	return &c
}

// Wrap returns a copy that wraps the cause, for the log.
func (e *Error) Wrap(cause error) *Error {
	c := *e
	c.cause = cause
	return &c
}

// Error is the text for the log. It contains the cause and must never be sent.
func (e *Error) Error() string {
	if e.cause != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Message, e.cause)
	}
	return fmt.Sprintf("%s: %s", e.Code, e.Message)
}

// Unwrap lets errors.Is and errors.As reach the cause.
func (e *Error) Unwrap() error { return e.cause }

// Of returns the code of err: that of the Error it wraps, otherwise
// internal_error; "" for nil.
func Of(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return Internal
}

// Is reports whether err carries the code.
func Is(err error, code Code) bool { return err != nil && Of(err) == code }
