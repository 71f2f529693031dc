package front

import (
	"net/http"
	"regexp"

	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
)

// requestIDForm is the form of a caller's own request id (decisions 1). It ends
// up in logs and headers, so it has no spaces or line ends.
var requestIDForm = regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`)

// requestIDOf returns the caller's own id if it is well formed, otherwise a new
// one.
func requestIDOf(r *http.Request) string {
	if own := r.Header.Get(fault.RequestIDHeader); requestIDForm.MatchString(own) {
		return own
	}
	return id.New(id.Request)
}
