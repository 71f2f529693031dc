package front

import (
	"net/http"
	"regexp"

	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
)

var requestIDForm = regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`)

// requestIDOf is the caller's own id where that is well formed, else a new one.
func requestIDOf(r *http.Request) string {
	if own := r.Header.Get(fault.RequestIDHeader); requestIDForm.MatchString(own) {
		return own
	}
	return id.New(id.Request)
}
