package front

import (
	"context"
	"errors"
	"time"
)

// ErrStopping ends waits when the service begins to stop, and cancels the requests
// that still run when the stop timeout is over. Its answer is a 503 that asks the
// caller to retry.
var ErrStopping = errors.New("the service is stopping")

// retryAfterStop is when to retry: by then another process listens, or a proxy
// knows that none does.
const retryAfterStop = time.Second

type servingKey struct{}

// Waiting is the context for long polls and event streams. It ends with ctx, and
// with the cause ErrStopping as soon as a stop begins, so that waits do not delay
// the stop. Call cancel at the end of the wait.
func Waiting(ctx context.Context) (waiting context.Context, cancel context.CancelFunc) {
	waiting, end := context.WithCancelCause(ctx)
	serving, ok := ctx.Value(servingKey{}).(context.Context)
	if !ok {
		return waiting, func() { end(nil) }
	}
	unwatch := context.AfterFunc(serving, func() { end(ErrStopping) })
	return waiting, func() { unwatch(); end(nil) }
}
