package worker

import (
	"context"
	"errors"
	"net/http"
	"time"

	"svc.example/internal/ground/farmapi"
	"svc.example/internal/ground/fault"
)

// The pause before a repeated call doubles from the first to the last.
const (
	firstPause = 250 * time.Millisecond
	lastPause  = 30 * time.Second
)

// pause returns the wait before try n; 1 is the first repetition. Jitter in [0, 1)
// takes up to half of it away, so that workers that lost the server together do not
// return together.
func pause(n int, jitter float64) time.Duration {
	d := lastPause
	if n < 8 {
		d = min(firstPause<<(n-1), lastPause)
	}
	return d - time.Duration(jitter*float64(d/2))
}

// refused reports that repeating a call cannot help: the server has understood and
// declined it, or the bytes are not the announced ones.
func refused(err error) bool {
	if errors.Is(err, errUnsendable) || errors.Is(err, errDamaged) {
		return true
	}
	var e *farmapi.Error
	if !errors.As(err, &e) || e.Retryable || e.Status < 400 || e.Status > 499 {
		return false
	}
	return e.Status != http.StatusUnauthorized && e.Status != http.StatusForbidden && !unregistered(err)
}

// unauthorized reports that the server does not accept the node key.
func unauthorized(err error) bool {
	var e *farmapi.Error
	return errors.As(err, &e) && (e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden)
}

func unregistered(err error) bool {
	var e *farmapi.Error
	return errors.As(err, &e) && e.Code == string(fault.WorkerNotRegistered)
}

// persist repeats a call until it succeeds or is refused, or ctx ends. Each try gets
// the worker's current id. A server that no longer knows the id gets a new
// registration.
func (w *Worker) persist(ctx context.Context, what string, call func(workerID string) error) error {
	for try := 1; ; try++ {
		id := w.id()
		err := call(id)
		if err == nil || refused(err) || errors.Is(err, errUnable) || ctx.Err() != nil {
			return err
		}
		if unregistered(err) {
			err = w.register(ctx, id)
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
func (w *Worker) backOff(ctx context.Context, what string, try int, err error) error {
	d := pause(try, w.cfg.Jitter())
	var failed *farmapi.Error
	if errors.As(err, &failed) {
		d = max(d, min(failed.RetryAfter, lastPause))
	}
	w.log.Warn("a call to the server failed, it is repeated", "call", what, "try", try, "pause", d, "error", err)
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
