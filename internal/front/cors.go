package front

import (
	"net/http"
	"strings"

	"svc.example/internal/ground/links"
)

// CORS headers (decisions 1): routes with a bearer key and public routes admit
// any origin, without credentials. Routes with a cookie admit only their own.
const (
	allowedHeaders = "Authorization, Content-Type, Accept, Range, If-Range, If-None-Match, Idempotency-Key, Last-Event-ID, X-Request-Id, traceparent, tracestate, " +
		"Mcp-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name, " +
		"X-Svc-Request-Fingerprint, X-Svc-Filename, X-Svc-Renderer, X-Svc-Frame-Start, X-Svc-Frame-End, X-Svc-Frame-Count, " +
		"X-Svc-Size-Bytes, X-Svc-Content-SHA256"
	exposedHeaders = "X-Request-Id, Retry-After, RateLimit, RateLimit-Policy, Link, Location, Content-Disposition, " +
		"Idempotency-Replayed, WWW-Authenticate, ETag, Content-Range, Accept-Ranges"
)

// anyOrigin reports whether pages of any origin may read a path: the API, the
// receipt log and the well-known files, except the routes that a cookie opens.
func anyOrigin(path string) bool {
	for _, own := range []string{"/v1/auth/", "/v1/api-keys", "/v1/agent-keys", "/v1/workspace/proof-pages", operatorsAPI} {
		if strings.HasPrefix(path, own) {
			return false
		}
	}
	switch path {
	case links.TokenPath, links.RevokePath, links.RegisterPath, links.DevicePath: // no cookie opens these
		return true
	}
	return isAPI(path) || strings.HasPrefix(path, "/log/") || strings.HasPrefix(path, "/.well-known/")
}

// allowAnyOrigin sets the CORS headers of a response. It never allows
// credentials, so a foreign page cannot use a visitor's session.
func allowAnyOrigin(h http.Header) {
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Expose-Headers", exposedHeaders)
}

// preflight answers OPTIONS with the methods that the path really has. It does
// not count against the rate limit (decisions 13). Errors: route_not_found.
func (f *Front) preflight(w http.ResponseWriter, r *http.Request) error {
	var methods []string
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPatch, http.MethodPut, http.MethodDelete} {
		probe := *r
		probe.Method = method
		if _, pattern := f.Routes.Handler(&probe); pattern != "" {
			methods = append(methods, method)
		}
	}
	if len(methods) == 0 {
		return noRoute(r.URL.Path)
	}
	all := strings.Join(append(methods, http.MethodOptions), ", ")
	h := w.Header()
	h.Set("Allow", all)
	h.Set("Access-Control-Allow-Methods", all)
	h.Set("Access-Control-Allow-Headers", allowedHeaders)
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return nil
}
