package front

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"svc.example/internal/ground/fault"
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

// probeLimit bounds a probe's query.
const probeLimit = 2 * time.Second

// Probes adds /livez, which answers while the process does, and /readyz, which
// answers 503 from the beginning of a stop on and when check fails.
func Probes(serving context.Context, mux *http.ServeMux, errs *Errors, check func(context.Context) error) {
	mux.Handle("GET /livez", errs.Handle(func(w http.ResponseWriter, _ *http.Request) error {
		return writeOK(w)
	}))
	mux.Handle("GET /readyz", errs.Handle(func(w http.ResponseWriter, r *http.Request) error {
		if serving.Err() != nil {
			return ErrStopping
		}
		ctx, cancel := context.WithTimeout(r.Context(), probeLimit)
		defer cancel()
		if err := check(ctx); err != nil {
			return fault.New(fault.Unavailable, "The database does not answer.").Wrap(err).After(retryAfterStop)
		}
		return writeOK(w)
	}))
}

func writeOK(w http.ResponseWriter) error {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	// A failed write means the caller is gone.
	_ = json.NewEncoder(w).Encode(struct {
		OK bool `json:"ok"`
	}{true})
	return nil
}
