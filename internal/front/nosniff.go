package front

import (
	"net/http"
	"strings"
)

// setNosniff keeps browsers from guessing the type of what they load. It is set
// for pages, their files and the receipt log. Package web sets the
// Content-Security-Policy of pages.
func setNosniff(h http.Header, path string) {
	if !isForPrograms(path) || strings.HasPrefix(path, "/log/") {
		h.Set("X-Content-Type-Options", "nosniff")
	}
}
