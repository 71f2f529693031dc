package client

import (
	"context"
	"crypto/tls"
	"errors"
	"math/rand/v2"
	"time"
)

// The waits between tries double from the first to the longest.
const (
	firstWait   = 250 * time.Millisecond
	longestWait = 10 * time.Second
	tries       = 6
)

// retry repeats what failed for a reason that passes. It has no state, so calls
// share it.
type retry struct {
	attempts int
	wait     func(context.Context, time.Duration) error
	spread   func() float64 // 0 up to 1
}

func defaultRetry() retry {
	return retry{attempts: tries, wait: sleep, spread: rand.Float64}
}

// run calls try until it succeeds, fails for good, or has been called attempts
// times; once only when it is not repeatable.
func (r retry) run(ctx context.Context, repeatable bool, try func() error) error {
	for attempt := 1; ; attempt++ {
		err := try()
		if err == nil || !repeatable || attempt >= r.attempts || !passing(ctx, err) {
			return err
		}
		if r.pause(ctx, attempt, err) != nil {
			return err // the caller gave up: what went wrong says more than that
		}
	}
}

// pause waits before the next try, at least as long as the server asked for. Half
// of each wait is random, so that many clients of a restarted server do not return
// at once. attempt counts from 1.
func (r retry) pause(ctx context.Context, attempt int, err error) error {
	d := longestWait
	if attempt < 10 {
		d = min(longestWait, firstWait<<(attempt-1))
	}
	d = d/2 + time.Duration(r.spread()*float64(d/2))
	if refusal := (*Error)(nil); errors.As(err, &refusal) {
		d = max(d, refusal.RetryAfter)
	}
	return r.wait(ctx, d)
}

// inProgress is the code of a call whose earlier try the server still works on, or
// did when it was killed. It frees the key soon after.
const inProgress = "idempotency_in_progress"

// passing reports failures that a repeated call can overcome: lost connections,
// 429, 5xx and inProgress. A certificate that does not verify stays wrong, and
// trying again only hides that.
func passing(ctx context.Context, err error) bool {
	if ctx.Err() != nil {
		return false
	}
	if refusal := (*Error)(nil); errors.As(err, &refusal) {
		return temporary(refusal.Status) || refusal.Code == inProgress
	}
	if certificate := (*tls.CertificateVerificationError)(nil); errors.As(err, &certificate) {
		return false
	}
	var broken *unreadable
	return !errors.As(err, &broken)
}

// unreadable marks a failure that repeating the same call cannot mend, such as a
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
