package front

import (
	"net/http"
	"strings"
)

// setNosniff keeps browsers from guessing the type of what they load. Package web
// sets the content-security policy of pages.
func setNosniff(h http.Header, path string) {
	if !isForPrograms(path) || strings.HasPrefix(path, "/log/") {
		h.Set("X-Content-Type-Options", "nosniff")
	}
}
