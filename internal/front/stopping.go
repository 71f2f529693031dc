package front

import (
	"context"
	"errors"
	"sync"
	"time"

	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/work/identity/inflight"
)

// ErrStopping is the cause by which waits end when a stop begins, and by which
// requests are cancelled that still run when the stop timeout is over. Its
// response is a 503 that asks the caller to retry.
var ErrStopping = errors.New("the service is stopping")

// EndReason returns why a request was ended while it ran, as the error for its caller: the
// service is stopping, or the credential has ended. Otherwise it returns err, the error of
// the request's handler.
func EndReason(ctx context.Context, err error) error {
	switch cause := context.Cause(ctx); {
	case errors.Is(err, ErrStopping), errors.Is(cause, ErrStopping):
		return fault.New(fault.Unavailable, "The service is stopping.").After(retryAfterStop)
	case errors.Is(cause, inflight.ErrEnded):
		return cause
	}
	return err
}

// retryAfterStop is when a caller should retry. By then another process
// listens, or a proxy knows that none does.
const retryAfterStop = time.Second

// servingKey finds Front.Serving in a request's context.
type servingKey struct{}

// Waiting returns the context for long polls and event streams. It ends with
// ctx, and with the cause ErrStopping as soon as a stop begins, so that waits
// do not delay the stop. Other work of a request continues until the stop
// timeout. Call cancel at the end of the wait.
func Waiting(ctx context.Context) (waiting context.Context, cancel context.CancelFunc) {
	waiting, end := context.WithCancelCause(ctx)
	since := time.Now()
	idle := sync.OnceFunc(func() { ratelimit.Idle(ctx, since) })
	serving, ok := ctx.Value(servingKey{}).(context.Context)
	if !ok {
		return waiting, func() { idle(); end(nil) }
	}
	unwatch := context.AfterFunc(serving, func() { end(ErrStopping) })
	return waiting, func() { unwatch(); idle(); end(nil) }
}
