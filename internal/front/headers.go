package front

import (
	"net/http"
	"strings"
)

// setSecurity keeps browsers from guessing the type of what a page, or a file
// that a page may load, is. What a page may load itself says its own policy.
func setSecurity(h http.Header, path string) {
	if !isForPrograms(path) || strings.HasPrefix(path, "/log/") {
		h.Set("X-Content-Type-Options", "nosniff")
	}
}
