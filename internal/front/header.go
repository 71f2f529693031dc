package front

import (
	"net/http"
	"strings"
)

// strictTransport is how long a browser uses https for this host by itself: a year,
// in seconds. Other names below the host are not ours to decide about.
const strictTransport = "max-age=31536000"

// setHeaders sets what every response carries before its handler runs. A handler may
// replace Cache-Control: what anybody may read and keep says so by itself, so that a
// new route is private until somebody decides otherwise. Package web sets the
// Content-Security-Policy of pages.
func (f *Front) setHeaders(h http.Header, path string) {
	h.Set("X-Content-Type-Options", "nosniff")
	if f.HTTPS {
		h.Set("Strict-Transport-Security", strictTransport)
	}
	if isForPrograms(path) || strings.HasPrefix(path, "/console") {
		h.Set("Cache-Control", "no-store")
	}
}
