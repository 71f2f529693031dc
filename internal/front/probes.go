package front

import (
	"context"
	"encoding/json"
	"net/http"

	"svc.example/internal/ground/fault"
)

// Paths of the probes.
const (
	livePath  = "/livez"
	readyPath = "/readyz"
)

// Probes adds two routes to mux. /livez succeeds while the process runs; it
// does not ask the database, since a restart would not repair one. /readyz
// fails with 503 from the beginning of a stop, and whenever check fails, which is quick, so
// that a load balancer stops sending requests.
func Probes(serving context.Context, mux *http.ServeMux, errs *Errors, check func(context.Context) error) {
	mux.Handle("GET "+livePath, errs.Handle(func(w http.ResponseWriter, _ *http.Request) error {
		return writeOK(w)
	}))
	mux.Handle("GET "+readyPath, errs.Handle(func(w http.ResponseWriter, r *http.Request) error {
		if serving.Err() != nil {
			return ErrStopping
		}
		if err := check(r.Context()); err != nil {
			return fault.New(fault.Unavailable, "The service cannot write to its database and files.").Wrap(err).After(retryAfterStop)
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
