package worker

import (
	"context"
	"errors"
	"net/http"
	"time"

	"svc.example/internal/ground/fault"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/worker/outbox"
)

// The pause before a repeated call doubles from the first to the last. A service that
// restarts is back within the first ones. The last one bounds how long a worker is idle
// after an outage.
const (
	firstPause = 250 * time.Millisecond
	lastPause  = 30 * time.Second
)

// pause returns the wait before try n; 1 is the first repetition. Jitter in [0, 1)
// takes up to half of it away, so that workers that lost the server together do not
// return together.
func pause(n int, jitter float64) time.Duration {
	d := lastPause
	if n < 8 { // 250 ms << 7 is 32 s: from here on it is the last pause
		d = min(firstPause<<(n-1), lastPause)
	}
	return d - time.Duration(jitter*float64(d/2))
}

// refused reports that repeating a call cannot help: the server has understood and
// declined it, or the bytes are not the announced ones. A key that is not accepted is no
// refusal: an operator may be about to replace it, and the finished frames on disk are
// worth waiting for.
func refused(err error) bool {
	if errors.Is(err, outbox.ErrUnsendable) || errors.Is(err, errDamaged) {
		return true
	}
	var e *farmapi.Error
	if !errors.As(err, &e) || e.Retryable || e.Status < 400 || e.Status > 499 {
		return false
	}
	return e.Status != http.StatusUnauthorized && e.Status != http.StatusForbidden && !unregistered(err)
}

// unauthorized reports that the server does not accept the node key. Only the first
// registration ends on it. Later calls repeat.
func unauthorized(err error) bool {
	var e *farmapi.Error
	return errors.As(err, &e) && (e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden)
}

// unregistered reports that the server does not know the worker id. A new registration
// helps.
func unregistered(err error) bool {
	var e *farmapi.Error
	return errors.As(err, &e) && e.Code == string(fault.WorkerNotRegistered)
}

// persist repeats a call until it succeeds or is refused, or ctx ends. Each try gets the
// worker's current id. A server that no longer knows the id gets a new registration.
// Errors: the refusal, errUnable, or the last error when ctx has ended.
func (w *Worker) persist(ctx context.Context, what string, call func(workerID string) error) error {
	for try := 1; ; try++ {
		id := w.id()
		err := call(id)
		if err == nil || refused(err) || errors.Is(err, errUnable) || ctx.Err() != nil {
			return err
		}
		if unregistered(err) {
			err = w.register(ctx, id)
			// At once, but only the first time: a server that forgets every registration
			// would otherwise be called without a pause.
			if err == nil && try == 1 {
				continue
			}
		}
		if err := w.backOff(ctx, what, try, err); err != nil {
			return err
		}
	}
}

// backOff waits before the next try. It returns ctx's error when ctx ends first.
// A server that names a pause gets it, up to lastPause.
func (w *Worker) backOff(ctx context.Context, what string, try int, err error) error {
	d := pause(try, w.cfg.Jitter())
	var failed *farmapi.Error
	if errors.As(err, &failed) {
		d = max(d, min(failed.RetryAfter, lastPause))
	}
	w.log.Warn("a call to the server failed, it is repeated", "call", what, "try", try, "pause", d, "err", err)
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
