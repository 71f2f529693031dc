package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"svc.example/internal/ground/plaintext"
)

// Error is a refusal of the server (spec 7). Code and Message are empty when a
// proxy answered instead of the service. Use errors.As to find it in what the
// client returns. Its members are as the server sent them; Error shows what a
// terminal must not see as escapes.
type Error struct {
	Status          int // HTTP
	Code            string
	Message         string
	Retryable       bool // a later try can succeed without a change by the caller
	SuggestedAction string
	RequestID       string
	RetryAfter      time.Duration // 0 when the server names none
	Detail          json.RawMessage
}

func (e *Error) Error() string {
	if e.Code == "" {
		return fmt.Sprintf("a proxy or another server answered, not the service (%d %s)", e.Status, http.StatusText(e.Status))
	}
	return fmt.Sprintf("%s (%s, %d)", plaintext.Line(e.Message), plaintext.Line(e.Code), e.Status)
}

// ErrForeignAnswer reports a success that no svc sent: its body is not JSON of the form
// that the call answers with, as where the address leads to another web server.
var ErrForeignAnswer = errors.New("the answer does not have the form of svc")

// UnreadableAnswerError is an answer that began and cannot be read to its end: it broke off, or
// something between changed it.
type UnreadableAnswerError struct{ cause error }

func (e *UnreadableAnswerError) Error() string {
	return "the answer cannot be read: " + e.cause.Error()
}

// Unwrap returns why.
func (e *UnreadableAnswerError) Unwrap() error { return e.cause }

// RedirectError is a call that was redirected to something else than the service: to another
// host or a page, as a network does that wants its user to sign in first, or in a circle.
type RedirectError struct {
	To     string // the address without its query, or scheme and host where they are others
	Circle bool
}

func (e *RedirectError) Error() string {
	if e.Circle {
		return "the redirects go in a circle, at " + e.To
	}
	return "the answer is a redirect to " + e.To
}

// redirectTo is a RedirectError to an address.
func redirectTo(to *url.URL, from *url.URL) *RedirectError {
	short := url.URL{Scheme: to.Scheme, Host: to.Host}
	if to.Host == from.Host {
		short.Path = to.Path
	}
	return &RedirectError{To: short.String(), Circle: to.String() == from.String()}
}

// CallError is a call that failed. It wraps what the server or the network said.
type CallError struct {
	Server string // the address given to [New]
	Call   string // method and path
	cause  error
}

// Error names the call, and what went wrong.
func (e *CallError) Error() string { return e.Call + ": " + e.cause.Error() }

// Unwrap returns what went wrong: an *Error where the server refused.
func (e *CallError) Unwrap() error { return e.cause }

// errorFrom decodes a refusal from its body, or from the beginning of it. If the
// server names two waits, one in the header and one in the body, the longer
// counts.
func errorFrom(res *http.Response, body []byte, now time.Time) *Error {
	var wire struct {
		Error struct {
			Code            string          `json:"code"`
			Message         string          `json:"message"`
			Retryable       bool            `json:"retryable"`
			SuggestedAction string          `json:"suggested_action"`
			RequestID       string          `json:"request_id"`
			RetryAfter      float64         `json:"retry_after_seconds"`
			Detail          json.RawMessage `json:"detail"`
		} `json:"error"`
	}
	// A body that is not the envelope leaves the members empty, which is what
	// Error then says.
	_ = json.Unmarshal(body, &wire)
	envelope := wire.Error
	e := &Error{
		Status: res.StatusCode, Code: envelope.Code, Message: envelope.Message,
		Retryable: envelope.Retryable || temporary(res.StatusCode), SuggestedAction: envelope.SuggestedAction,
		RequestID: envelope.RequestID, Detail: envelope.Detail,
		RetryAfter: time.Duration(min(envelope.RetryAfter, longestAfter.Seconds()) * float64(time.Second)),
	}
	if e.RequestID == "" {
		e.RequestID = res.Header.Get("X-Request-Id")
	}
	e.RetryAfter = max(e.RetryAfter, retryAfter(res.Header, now))
	if e.RetryAfter == 0 && e.Status == http.StatusTooManyRequests {
		e.RetryAfter = limitReset(res.Header)
	}
	e.RetryAfter = min(longestAfter, e.RetryAfter)
	return e
}

// longestAfter bounds the wait that the client accepts from a server, so that a
// wrong header cannot stop it for years.
const longestAfter = 24 * time.Hour

// temporary reports statuses that a later try can overcome without a change.
func temporary(status int) bool {
	return status == http.StatusTooManyRequests || status >= 500
}

// usedUp is an item of the RateLimit header with nothing left, and the seconds until all is
// left again.
var usedUp = regexp.MustCompile(`;\s*r=0\s*;\s*t=(\d{1,9})`)

// limitReset reads the RateLimit headers: how long until no limit refuses; 0 where they do not
// tell.
func limitReset(header http.Header) (wait time.Duration) {
	for _, item := range usedUp.FindAllStringSubmatch(strings.Join(header.Values("RateLimit"), ","), -1) {
		if seconds, err := strconv.Atoi(item[1]); err == nil {
			wait = max(wait, time.Duration(seconds)*time.Second)
		}
	}
	return wait
}

// retryAfter reads the header's two forms, seconds and a date (RFC 9110 10.2.3); 0 for
// anything else. A date is the server's: it counts from the answer's own date, not from
// this computer's clock.
func retryAfter(header http.Header, now time.Time) time.Duration {
	value := header.Get("Retry-After")
	if seconds, err := strconv.Atoi(value); err == nil && seconds > 0 {
		return time.Duration(min(seconds, int(longestAfter.Seconds()))) * time.Second // no overflow for any value
	}
	if sent, err := http.ParseTime(header.Get("Date")); err == nil {
		now = sent
	}
	if date, err := http.ParseTime(value); err == nil && date.After(now) {
		return date.Sub(now)
	}
	return 0
}
