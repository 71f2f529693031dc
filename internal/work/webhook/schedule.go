package webhook

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"svc.example/internal/ground/contract"
)

// spread is how far a pause strays from the schedule, in parts of itself: what
// failed together does not come back together.
const spread = 0.1

// pause is how long to wait behind try number n of a round, from 1; more is
// false when there is no further one. The receiver's wish is never undercut, up
// to WebhookLongestPause. jitter is from 0 up to 1.
func pause(n int64, wish time.Duration, jitter float64) (wait time.Duration, more bool) {
	pauses := contract.WebhookPauses()
	if n >= int64(len(pauses)) {
		return 0, false
	}
	wait = pauses[n]
	wait += time.Duration(float64(wait) * spread * (2*jitter - 1))
	if wish = min(wish, contract.WebhookLongestPause); wish > wait {
		wait = wish + time.Duration(float64(wish)*spread*jitter)
	}
	return wait, true
}

// wishOf reads Retry-After: seconds, or a date, which is compared with now. 0 is
// no wish.
func wishOf(h http.Header, now time.Time) time.Duration {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if n, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
