package worker

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
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
	lost := outage{call: what}
	for try := 1; ; try++ {
		id := w.id()
		err := call(id)
		if err == nil {
			lost.over(w.log)
			return nil
		}
		if refused(err) || errors.Is(err, errUnable) || ctx.Err() != nil {
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
		if err := w.backOff(ctx, &lost, try, err); err != nil {
			return err
		}
	}
}

// outage is why a call fails again and again. An operator reads one line for each reason, and
// one when the server answers again; the tries between are for --log-level debug.
type outage struct {
	call  string
	began time.Time
	why   string
}

// level is the level at which a failure is logged.
func (o *outage) level(err error) slog.Level {
	why := reason(err)
	if o.began.IsZero() {
		o.began = time.Now()
	} else if o.why == why {
		return slog.LevelDebug
	}
	o.why = why
	return slog.LevelWarn
}

// over ends an outage, if there was one.
func (o *outage) over(log *slog.Logger) {
	if !o.began.IsZero() {
		log.Info("the server answers again", "call", o.call, "after", time.Since(o.began).Round(time.Second))
	}
	*o = outage{call: o.call}
}

// reason is what a failure has in common with others of the same outage: without ports, which
// differ from call to call.
func reason(err error) string {
	if broken, ok := errors.AsType[*net.OpError](err); ok {
		return broken.Err.Error()
	}
	if lost, ok := errors.AsType[*url.Error](err); ok {
		return lost.Err.Error()
	}
	return err.Error()
}

// backOff waits before the next try. It returns ctx's error when ctx ends first.
// A server that names a pause gets it, up to lastPause.
func (w *Worker) backOff(ctx context.Context, lost *outage, try int, err error) error {
	d := pause(try, w.cfg.Jitter())
	var failed *farmapi.Error
	if errors.As(err, &failed) {
		d = max(d, min(failed.RetryAfter, lastPause))
	}
	w.log.Log(ctx, lost.level(err), "a call to the server failed, it is repeated", "call", lost.call, "try", try, "pause", d, "err", err)
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
