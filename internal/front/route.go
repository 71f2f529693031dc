package front

import (
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/links"
)

// operatorsAPI begins the paths of the operators' API.
const operatorsAPI = "/admin/v1/"

// isAPI reports whether a path belongs to the API, that of operators or the MCP endpoint.
func isAPI(path string) bool {
	for _, prefix := range []string{"/v1/", "/node/v1/", "/mcp", operatorsAPI} {
		if strings.HasPrefix(path, prefix) {
			return true
		}
	}
	return path == "/openapi.json"
}

// isForPrograms reports whether only programs use a path: its errors are JSON,
// whatever the caller accepts. The sign-in routes belong to the API, and the
// links for uploads to the tools for agents, but browsers open them too.
func isForPrograms(path string) bool {
	if path == links.SignInPath || strings.HasPrefix(path, links.UploadPath) || strings.HasPrefix(path, links.OpenIDPath+"/") {
		return false
	}
	for _, prefix := range []string{"/farm/", "/log/", "/.well-known/", "/livez", "/readyz"} {
		if strings.HasPrefix(path, prefix) {
			return true
		}
	}
	return isAPI(path)
}

// speaksOAuth reports whether a request is a program's to the authorization server.
func speaksOAuth(r *http.Request) bool {
	switch r.URL.Path {
	case links.TokenPath, links.RevokePath, links.RegisterPath, links.DevicePath:
		return r.Method == http.MethodPost
	}
	return false
}

// pathOf returns a route's pattern without the method; "-" when no route
// matched. Log lines have it instead of the path, which can contain ids and
// tokens.
func pathOf(pattern string) string {
	if pattern == "" {
		return "-"
	}
	return pattern[strings.Index(pattern, "/"):]
}

// missOf returns the error of a request that no route matches. It asks the mux
// itself, which knows whether the path exists under another method. Errors:
// route_not_found, method_not_allowed.
func missOf(routes *http.ServeMux, r *http.Request) error {
	probe := newResponse(discarded{http.Header{}}, 0)
	routes.ServeHTTP(probe, r)
	if probe.status == http.StatusMethodNotAllowed {
		e := fault.New(fault.MethodNotAllowed, "%[2]s does not support the method %[1]s.", r.Method, r.URL.Path)
		e.Allow = probe.Header().Get("Allow")
		return e
	}
	return noRoute(r.URL.Path)
}

// noRoute returns the error of a path that does not exist.
func noRoute(path string) error { return fault.New(fault.RouteNotFound, "There is no route %s.", path) }

// discarded is a ResponseWriter that keeps only the headers.
type discarded struct{ header http.Header }

func (d discarded) Header() http.Header         { return d.header }
func (d discarded) Write(p []byte) (int, error) { return len(p), nil }
func (d discarded) WriteHeader(int)             {}

// IsText reports whether a caller's text can be looked up and stored.
// PostgreSQL accepts neither NUL nor invalid UTF-8.
func IsText(s string) bool { return utf8.ValidString(s) && !strings.Contains(s, "\x00") }

// checkEncoding refuses a body that is compressed: it would be read as it came, and the
// caller told of a damaged file. Error: content_encoding_not_supported.
func checkEncoding(r *http.Request) error {
	for _, encoding := range r.Header.Values("Content-Encoding") {
		if encoding != "" && !strings.EqualFold(encoding, "identity") {
			return fault.New(fault.EncodingNotSupported, "The body has Content-Encoding %q, but bodies must not be encoded.", encoding)
		}
	}
	return nil
}

// checkText refuses a URL with a part that is not text. The database would fail
// on it, and the caller would get a 500 for a mistake of its own. Errors:
// route_not_found, invalid_request.
func checkText(u *url.URL) error {
	if !IsText(u.Path) {
		return fault.New(fault.RouteNotFound, "There is no route %q.", u.Path)
	}
	for name, values := range u.Query() {
		for _, value := range values {
			if !IsText(value) {
				return fault.Field("query."+name, "is not valid UTF-8")
			}
		}
	}
	return nil
}
