package app

import (
	"net/http"
	"net/url"
	"strings"

	"svc.example/internal/door/api"
	"svc.example/internal/ground/fault"
)

// Headers of callers in browsers (decisions: every bearer and public route
// answers any origin, without credentials; cookie routes answer their own).
const (
	allowedHeaders = "Authorization, Content-Type, Accept, Range, Idempotency-Key, Last-Event-ID, X-Request-Id, " +
		"Mcp-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name, " +
		"X-Svc-Request-Fingerprint, X-Svc-Filename, X-Svc-Renderer, X-Svc-Frame-Start, X-Svc-Frame-End, X-Svc-Frame-Count, " +
		"X-Svc-Size-Bytes, X-Svc-Content-SHA256"
	exposedHeaders = "X-Request-Id, Retry-After, RateLimit, RateLimit-Policy, Link, Location, Content-Disposition, Idempotency-Replayed"
)

// isAPI reports whether a path is one of the API rather than a page.
func isAPI(path string) bool {
	for _, prefix := range []string{"/v1/", "/node/v1/", "/mcp"} {
		if strings.HasPrefix(path, prefix) {
			return true
		}
	}
	return path == "/openapi.json"
}

// anyOrigin reports whether a path answers pages of any origin: all of the API
// and the log of receipts and what is well known, but what stands on the cookie alone.
func anyOrigin(path string) bool {
	for _, cookie := range []string{"/v1/auth/", "/v1/api-keys", "/v1/agent-keys", "/v1/workspace/proof-pages"} {
		if strings.HasPrefix(path, cookie) {
			return false
		}
	}
	return isAPI(path) || strings.HasPrefix(path, "/log/") || strings.HasPrefix(path, "/.well-known/")
}

// isText refuses an address with a part that is no text: nothing here is called
// so, and a database would fail on it. Errors: route_not_found, invalid_request.
func isText(u *url.URL) error {
	if !api.IsText(u.Path) {
		return fault.New(fault.RouteNotFound, "There is no route %q.", u.Path)
	}
	for name, values := range u.Query() {
		for _, value := range values {
			if !api.IsText(value) {
				return fault.Field("query."+name, "is not text in UTF-8")
			}
		}
	}
	return nil
}

func allowAnyOrigin(h http.Header) {
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Expose-Headers", exposedHeaders)
}

// preflight answers OPTIONS.
func (f *front) preflight(w http.ResponseWriter, r *http.Request) {
	var methods []string
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPatch, http.MethodPut, http.MethodDelete} {
		asked := *r
		asked.Method = method
		if _, pattern := f.mux.Handler(&asked); pattern != "" {
			methods = append(methods, method)
		}
	}
	if len(methods) == 0 {
		fault.Respond(w, fault.New(fault.RouteNotFound, "There is no route %s.", r.URL.Path))
		return
	}
	all := strings.Join(append(methods, http.MethodOptions), ", ")
	h := w.Header()
	h.Set("Allow", all)
	h.Set("Access-Control-Allow-Methods", all)
	h.Set("Access-Control-Allow-Headers", allowedHeaders)
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
}
