package webhook

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"svc.example/internal/ground/contract"
)

// spread is how far a pause may differ from the schedule, as a share of itself. It
// keeps deliveries that failed together from returning together.
const spread = 0.1

// pause is the wait after try number n of a round, from 1. more is false after the last
// try. The wait is never shorter than Retry-After, up to WebhookLongestPause. jitter is
// in [0, 1): 0.5 gives the schedule's own pause.
func pause(n int64, retryAfter time.Duration, jitter float64) (wait time.Duration, more bool) {
	pauses := contract.WebhookPauses()
	if n >= int64(len(pauses)) {
		return 0, false
	}
	wait = pauses[n]
	wait += time.Duration(float64(wait) * spread * (2*jitter - 1))
	if retryAfter = min(retryAfter, contract.WebhookLongestPause); retryAfter > wait {
		// Jitter only lengthens this wait: the receiver asked for at least
		// retryAfter.
		wait = retryAfter + time.Duration(float64(retryAfter)*spread*jitter)
	}
	return wait, true
}

// parseRetryAfter reads Retry-After as seconds or as a date (RFC 9110, 10.2.3). It
// returns 0 for an absent or unreadable header.
func parseRetryAfter(h http.Header, now time.Time) time.Duration {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if n, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
