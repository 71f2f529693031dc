package client

import (
	"context"
	"crypto/tls"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"time"
)

// The waits between tries double from the first to the longest. What a rate limit asks for is
// waited out for up to patience in one call, without counting as a try.
const (
	patience    = 2 * time.Minute
	firstWait   = 250 * time.Millisecond
	longestWait = 10 * time.Second
	tries       = 6
)

// Retry is a try that failed and will be repeated.
type Retry struct {
	Err      error
	Wait     time.Duration // until the next try
	Try      int           // which try comes next, from 2 on
	Attempts int           // how many there are at most; 0 where only the context ends them
}

// retry repeats what failed for a reason that passes. It has no state, so calls
// share it.
type retry struct {
	attempts int
	wait     func(context.Context, time.Duration) error
	spread   func() float64 // 0 up to 1
	on       func(Retry)    // nil for none
}

func defaultRetry() retry {
	return retry{attempts: tries, wait: sleep, spread: rand.Float64}
}

// run calls try until it succeeds, fails for good, or has been called attempts
// times; once only when it is not repeatable. It waits rate limits out silently, within
// patience, unless there is one attempt only.
func (r retry) run(ctx context.Context, repeatable bool, try func() error) error {
	var limited time.Duration
	for attempt := 1; ; attempt++ {
		err := try()
		for repeatable && r.waitOut(ctx, err, &limited) {
			err = try()
		}
		if err == nil || !repeatable || attempt >= r.attempts || !passing(ctx, err) {
			return err
		}
		if r.pause(ctx, attempt, r.attempts, err) != nil {
			return err // the caller gave up: what went wrong says more than that
		}
	}
}

// waitOut waits as a rate limit asks, which is no failed try, and reports whether the caller tries
// again. limited is how long a call has waited so, for up to patience. With one attempt only it
// never waits.
func (r retry) waitOut(ctx context.Context, err error, limited *time.Duration) bool {
	d := limitOf(err)
	if d <= 0 || r.attempts <= 1 || *limited+d > patience {
		return false
	}
	*limited += d
	return r.wait(ctx, d) == nil
}

// limitOf is how long a rate limit asks to wait; 0 for other failures.
func limitOf(err error) time.Duration {
	if refusal := (*Error)(nil); errors.As(err, &refusal) && refusal.Status == http.StatusTooManyRequests {
		return refusal.RetryAfter
	}
	return 0
}

// pause waits before the next try, at least as long as the server asked for. Half
// of each wait is random, so that many clients of a restarted server do not return
// at once. attempt counts from 1; of is how many there are, WithoutEnd for no bound.
func (r retry) pause(ctx context.Context, attempt, of int, err error) error {
	d := longestWait
	if attempt < 10 {
		d = min(longestWait, firstWait<<(attempt-1))
	}
	d = d/2 + time.Duration(r.spread()*float64(d/2))
	if refusal := (*Error)(nil); errors.As(err, &refusal) {
		d = max(d, refusal.RetryAfter)
	}
	if r.on != nil && err != nil && ctx.Err() == nil {
		if of == WithoutEnd {
			of = 0
		}
		r.on(Retry{Err: err, Wait: d, Try: attempt + 1, Attempts: of})
	}
	return r.wait(ctx, d)
}

// inProgress is the code of a call whose earlier try the server still works on, or
// did when it was killed. It frees the key soon after.
const inProgress = "idempotency_in_progress"

// passing reports failures that a repeated call can overcome: lost connections, 429, 5xx
// and inProgress. A certificate that does not verify stays wrong, and so does an unknown
// name, or a server that speaks another protocol: trying again only hides that.
func passing(ctx context.Context, err error) bool {
	if broken := (*unreadable)(nil); ctx.Err() != nil || errors.As(err, &broken) {
		return false
	}
	if refusal := (*Error)(nil); errors.As(err, &refusal) {
		return temporary(refusal.Status) || refusal.Code == inProgress
	}
	return !unknownHost(err) && !otherProtocol(err)
}

// unknownHost reports that the name of the server is unknown. A machine that has just
// lost its network may say this about every name, so a call that lasts for hours treats
// it as a passing failure.
func unknownHost(err error) bool {
	var name *net.DNSError
	return errors.As(err, &name) && name.IsNotFound
}

// otherProtocol reports what no svc at this address can cause.
func otherProtocol(err error) bool {
	var certificate *tls.CertificateVerificationError
	var noTLS tls.RecordHeaderError
	var redirected *RedirectError
	if errors.As(err, &redirected) || errors.As(err, &certificate) || errors.As(err, &noTLS) || errors.Is(err, http.ErrSchemeMismatch) {
		return true
	}
	// net/http has no types for these.
	for _, text := range []string{"unsupported protocol scheme", "malformed HTTP", "stopped after 10 redirects", "failed to parse Location"} {
		if strings.Contains(err.Error(), text) {
			return true
		}
	}
	return false
}

// unreadable marks a failure that repeating the same call cannot fix, such as a
// file that cannot be read or a full disk.
type unreadable struct{ cause error }

func (e *unreadable) Error() string { return e.cause.Error() }

func (e *unreadable) Unwrap() error { return e.cause }

// sleep waits for d, or returns the context's error.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
