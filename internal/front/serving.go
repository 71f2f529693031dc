package front

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"svc.example/internal/ground/fault"
)

// ErrStopping is why a wait ends that began before the service's stop, and with
// which the contexts of requests are cancelled that are still running when the
// time to stop is over. Whoever gets it as an answer is told to come back.
var ErrStopping = errors.New("the service is stopping")

// comeBack is when to try a service again that stops: by then another process
// listens, or a proxy knows that none does.
const comeBack = time.Second

type servingKey struct{}

// Waiting returns a context for what only waits: a long poll, a stream of events.
// It ends with ctx, and with ErrStopping as its cause as soon as a stop begins, so
// that nobody who waits holds the stop up. Call cancel at the end of the wait.
func Waiting(ctx context.Context) (waiting context.Context, cancel context.CancelFunc) {
	waiting, end := context.WithCancelCause(ctx)
	serving, ok := ctx.Value(servingKey{}).(context.Context)
	if !ok {
		return waiting, func() { end(nil) }
	}
	unwatch := context.AfterFunc(serving, func() { end(ErrStopping) })
	return waiting, func() { unwatch(); end(nil) }
}

// probeLimit bounds what a probe asks of the database.
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
			return fault.New(fault.Unavailable, "The database does not answer.").Wrap(err).After(comeBack)
		}
		return writeOK(w)
	}))
}

func writeOK(w http.ResponseWriter) error {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	// A failed write means that nobody waits for it.
	_ = json.NewEncoder(w).Encode(struct {
		OK bool `json:"ok"`
	}{true})
	return nil
}
