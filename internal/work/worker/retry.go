package worker

import (
	"context"
	"errors"
	"net/http"
	"time"

	"svc.example/internal/ground/farmapi"
	"svc.example/internal/ground/fault"
)

// The pause before a call is repeated doubles from the first to the last.
const (
	firstPause = 250 * time.Millisecond
	lastPause  = 30 * time.Second
)

// pause returns how long to wait before try n (1 is the first repetition): the
// doubled pause, of which jitter in [0, 1) takes up to half away, so that workers
// that lost the server together do not come back together.
func pause(n int, jitter float64) time.Duration {
	d := lastPause
	if n < 8 {
		d = min(firstPause<<(n-1), lastPause)
	}
	return d - time.Duration(jitter*float64(d/2))
}

// refused says that to repeat a call is of no use: the server has understood it and
// does not want it, or the bytes to send or the bytes received are not those meant.
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

// unauthorized says that the node key is not, or no longer, good.
func unauthorized(err error) bool {
	var e *farmapi.Error
	return errors.As(err, &e) && (e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden)
}

func unregistered(err error) bool {
	var e *farmapi.Error
	return errors.As(err, &e) && e.Code == string(fault.WorkerNotRegistered)
}

// persist makes a call until it is done or refused, or ctx ends. The call gets the
// worker's id, which is made anew when the server does not know it any longer.
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
		if err := w.rest(ctx, what, try, err); err != nil {
			return err
		}
	}
}

// rest waits before the next try; it returns ctx's error when that ends first.
func (w *Worker) rest(ctx context.Context, what string, try int, err error) error {
	d := pause(try, w.cfg.Jitter())
	var said *farmapi.Error
	if errors.As(err, &said) {
		d = max(d, min(said.RetryAfter, lastPause))
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
