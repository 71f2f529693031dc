package front

import (
	"net/http"
	"strings"
)

// strictTransport is how long a browser uses only https for this host: a year, in
// seconds. Other names below the host are not ours to decide about.
const strictTransport = "max-age=31536000"

// setHeaders sets what every response carries before its handler runs. A handler may
// replace Cache-Control. Public responses must opt in to caching, so a new route is
// private by default. Package web sets the Content-Security-Policy of pages.
func (f *Front) setHeaders(h http.Header, path string) {
	h.Set("X-Content-Type-Options", "nosniff")
	if f.HTTPS {
		h.Set("Strict-Transport-Security", strictTransport)
	}
	if isForPrograms(path) || strings.HasPrefix(path, "/console") {
		h.Set("Cache-Control", "no-store")
	}
}
