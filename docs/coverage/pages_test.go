package coverage_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"svc.example/internal/ground/fault"
)

var (
	routeNamed = regexp.MustCompile(`\b(GET|POST|PUT|PATCH|DELETE)[ *|` + "`" + `]+(?:https?://[^/\s]+|\$\{?\w+\}?|"\$server)?(/(?:node/)?v1/[^\s` + "`" + `"',;)|?#]*)`)
	parameter  = regexp.MustCompile(`\{[^}]*\}|<[^>]*>|[A-Z]{3}-…|\$\w+|…`)
	codeNamed  = regexp.MustCompile(`\b(4\d\d|5\d\d) ` + "`([a-z]+(?:_[a-z0-9]+)+)`")
)

// TestPagesNameRoutesAndCodesThatExist holds every route and every error code with its status
// that a page names against the OpenAPI document and the table of codes.
func TestPagesNameRoutesAndCodesThatExist(t *testing.T) {
	t.Parallel()
	routes := describedRoutes(t)
	statuses := map[string]int{}
	for _, c := range fault.Table() {
		statuses[string(c.Code)] = c.Status
	}
	named, codes := 0, 0
	eachPage(t, func(page, text string) {
		for _, m := range routeNamed.FindAllStringSubmatch(text, -1) {
			named++
			if route := m[1] + " " + strings.TrimRight(parameter.ReplaceAllString(m[2], "{}"), "./"); !routes[route] {
				t.Errorf("%s names %s, which the document does not have", page, route)
			}
		}
		for _, m := range codeNamed.FindAllStringSubmatch(text, -1) {
			codes++
			if status, known := statuses[m[2]]; !known || m[1] != strconv.Itoa(status) {
				t.Errorf("%s says %s %s; the table has %d", page, m[1], m[2], status)
			}
		}
	}, "README.md", "docs/*.md", "docs/internal/*.md", "sdk/*/README.md")
	if named < 100 || codes < 50 {
		t.Errorf("only %d routes and %d codes were found", named, codes)
	}
}

// eachPage reads the pages that patterns name.
func eachPage(t *testing.T, see func(page, text string), patterns ...string) {
	t.Helper()
	for _, pattern := range patterns {
		pages, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil || len(pages) == 0 {
			t.Fatalf("%s: %v, %v", pattern, pages, err)
		}
		for _, page := range pages {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			see(page, string(text))
		}
	}
}

// describedRoutes are the routes of the OpenAPI document, with {} for each parameter.
func describedRoutes(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs", "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	var document struct{ Paths map[string]map[string]any }
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	routes := map[string]bool{}
	for path, methods := range document.Paths {
		for method := range maps.Keys(methods) {
			routes[strings.ToUpper(method)+" "+strings.TrimRight(parameter.ReplaceAllString(path, "{}"), "/")] = true
		}
	}
	return routes
}
