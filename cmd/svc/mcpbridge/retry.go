package mcpbridge

import (
	"errors"
	"net/http"
	"strconv"
	"time"
)

// maxRetryWait bounds how long one request waits for its turn, all its retries
// together: the program that runs the agent gives up on a call after a while, and
// then a refusal that it can read is better than none (docs/agents.md).
const maxRetryWait = 15 * time.Second

// retryRateLimited repeats a request that the service refused with 429, or a call of a tool
// that it refused for the same reason, after the time that the service asks for. An agent could do nothing better with the refusal,
// and most give up or call again at once. It is safe for concurrent use.
type retryRateLimited struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper. It returns the refusal itself when Retry-After
// is missing or exceeds what is left of maxRetryWait, and when the body cannot be read
// a second time. The end of the request's context ends the wait.
func (u retryRateLimited) RoundTrip(r *http.Request) (*http.Response, error) {
	for left := maxRetryWait; ; {
		res, err := u.next.RoundTrip(r)
		if err != nil || res.StatusCode != http.StatusTooManyRequests && res.Header.Get("Retry-After") == "" {
			return res, err
		}
		seconds, err := strconv.Atoi(res.Header.Get("Retry-After"))
		wait := time.Duration(seconds) * time.Second
		again := r.Clone(r.Context())
		if err == nil && r.GetBody != nil {
			again.Body, err = r.GetBody()
		}
		if err != nil || wait <= 0 || wait > left || (r.Body != nil && r.GetBody == nil) {
			return res, nil // the caller gets the refusal
		}
		left -= wait
		r, err = again, res.Body.Close()
		select {
		case <-r.Context().Done():
			return nil, errors.Join(r.Context().Err(), err)
		case <-time.After(wait):
		}
	}
}
