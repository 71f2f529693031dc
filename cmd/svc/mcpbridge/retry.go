package mcpbridge

import (
	"errors"
	"net/http"
	"strconv"
	"time"
)

// maxRetryWait is how long one request waits for its turn, in all: the program that runs
// the agent gives up on a call after a while.
const maxRetryWait = 15 * time.Second

// retryRateLimited sends a request again when the service says that there were too many
// (429), as soon as the service says. An agent can do nothing better, and most
// do worse.
type retryRateLimited struct{ next http.RoundTripper }

func (u retryRateLimited) RoundTrip(r *http.Request) (*http.Response, error) {
	for left := maxRetryWait; ; {
		res, err := u.next.RoundTrip(r)
		if err != nil || res.StatusCode != http.StatusTooManyRequests {
			return res, err
		}
		seconds, err := strconv.Atoi(res.Header.Get("Retry-After"))
		wait := time.Duration(seconds) * time.Second
		again := r.Clone(r.Context())
		if err == nil && r.GetBody != nil {
			again.Body, err = r.GetBody()
		}
		if err != nil || wait <= 0 || wait > left || (r.Body != nil && r.GetBody == nil) {
			return res, nil // the refusal says it
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
