package front

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"svc.example/internal/ground/fault"
)

// probeLimit bounds the query of a readiness probe.
const probeLimit = 2 * time.Second

// Paths of the probes.
const (
	livePath  = "/livez"
	readyPath = "/readyz"
)

// Probes adds two routes to mux. /livez succeeds while the process runs; it
// does not ask the database, since a restart would not repair one. /readyz
// fails with 503 from the beginning of a stop, and whenever check fails, so
// that a load balancer stops sending requests.
func Probes(serving context.Context, mux *http.ServeMux, errs *Errors, check func(context.Context) error) {
	mux.Handle("GET "+livePath, errs.Handle(func(w http.ResponseWriter, _ *http.Request) error {
		return writeOK(w)
	}))
	mux.Handle("GET "+readyPath, errs.Handle(func(w http.ResponseWriter, r *http.Request) error {
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

// writeOK writes {"ok":true}, which no cache may keep.
func writeOK(w http.ResponseWriter) error {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	// A failed write means the caller is gone.
	_ = json.NewEncoder(w).Encode(struct {
		OK bool `json:"ok"`
	}{true})
	return nil
}
