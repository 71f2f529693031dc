package client

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Error is an answer that refuses (spec 7). Code and Message are empty when the
// answer did not come from the service, but from a proxy before it.
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
		return fmt.Sprintf("the server answered %d %s", e.Status, http.StatusText(e.Status))
	}
	return fmt.Sprintf("%s (%s, %d)", e.Message, e.Code, e.Status)
}

// errorFrom reads a refusal whose body, or as much of it as matters, is given.
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
	told := wire.Error
	e := &Error{
		Status: res.StatusCode, Code: told.Code, Message: told.Message,
		Retryable: told.Retryable || temporary(res.StatusCode), SuggestedAction: told.SuggestedAction,
		RequestID: told.RequestID, Detail: told.Detail,
		RetryAfter: time.Duration(min(told.RetryAfter, longestAfter.Seconds()) * float64(time.Second)),
	}
	if e.RequestID == "" {
		e.RequestID = res.Header.Get("X-Request-Id")
	}
	e.RetryAfter = min(longestAfter, max(e.RetryAfter, retryAfter(res.Header.Get("Retry-After"), now)))
	return e
}

// longestAfter is the longest wait that a server is believed to ask for.
const longestAfter = 24 * time.Hour

// temporary tells the statuses that a later try can mend.
func temporary(status int) bool {
	return status == http.StatusTooManyRequests || status >= 500
}

// retryAfter reads the header's two forms, seconds and a date (RFC 9110 10.2.3).
func retryAfter(value string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(value); err == nil && seconds > 0 {
		return time.Duration(min(seconds, int(longestAfter.Seconds()))) * time.Second // no overflow, whatever is sent
	}
	if date, err := http.ParseTime(value); err == nil && date.After(now) {
		return date.Sub(now)
	}
	return 0
}
