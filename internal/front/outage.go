package front

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"sync/atomic"
	"time"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
)

// ErrNoAnswer says that the database or the store of files does not answer in time.
var ErrNoAnswer = errors.New("no answer in time")

// IsOutage reports whether err says that what the service needs is away, read-only or full:
// its database, or the store of its files. It is nobody's fault, and passes.
func IsOutage(err error) bool {
	if errors.Is(err, ErrNoAnswer) || db.IsFull(err) || db.IsAway(err) || blob.IsAway(err) {
		return true
	}
	// Errors of the callers' own connections are of other types.
	_, call := errors.AsType[*url.Error](err)
	return call && !errors.Is(err, context.Canceled)
}

// retryAfterOutage is when to retry while the store is away.
const retryAfterOutage = 5 * time.Second

// duringOutage turns the error of an outage into what a caller is told. An error that has an
// answer of its own stays.
func duringOutage(err error) error {
	switch {
	case db.IsFull(err):
		return fault.New(fault.Unavailable, "The service's disk is full. Nothing was stored.").After(retryAfterFull).Wrap(err)
	case fault.Is(err, fault.Internal) && IsOutage(err):
		return fault.New(fault.Unavailable, "The service cannot reach its store right now.").After(retryAfterOutage).Wrap(err)
	}
	return err
}

// OutageLog passes log lines on, but of an outage only the first one: otherwise every call
// would log the same error. Over ends an outage. It is safe for concurrent use.
type OutageLog struct {
	slog.Handler
	began   *atomic.Int64 // microseconds since 1970; 0: there is none
	noticed chan struct{} // of capacity 1: an outage has begun
}

// NewOutageLog makes a handler before another one.
func NewOutageLog(next slog.Handler) *OutageLog {
	return &OutageLog{next, new(atomic.Int64), make(chan struct{}, 1)}
}

// Handle implements slog.Handler.
func (l *OutageLog) Handle(ctx context.Context, r slog.Record) error {
	outage := false
	r.Attrs(func(a slog.Attr) bool {
		err, is := a.Value.Any().(error)
		outage = outage || (is && a.Key == "err" && IsOutage(err))
		return !outage
	})
	if outage && !l.began.CompareAndSwap(0, max(1, r.Time.UnixMicro())) {
		return nil
	}
	if outage {
		select {
		case l.noticed <- struct{}{}:
		default:
		}
	}
	return l.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (l *OutageLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &OutageLog{l.Handler.WithAttrs(attrs), l.began, l.noticed}
}

// WithGroup implements slog.Handler.
func (l *OutageLog) WithGroup(name string) slog.Handler {
	return &OutageLog{l.Handler.WithGroup(name), l.began, l.noticed}
}

// Noticed receives a value when an outage begins.
func (l *OutageLog) Noticed() <-chan struct{} { return l.noticed }

// Over ends an outage, and returns when it began; the next one is logged again.
func (l *OutageLog) Over() time.Time { return time.UnixMicro(l.began.Swap(0)) }
