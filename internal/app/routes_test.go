package app_test

import (
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"svc.example/internal/app"
	"svc.example/internal/ground/ratelimit"
)

// uncounted are the routes that no limit counts, each with its reason in front.
var uncounted = []string{"GET /livez", "GET /readyz"}

// TestEveryRouteIsCounted asks every route that the service has, and fails for one whose
// answer is not counted in some limit.
func TestEveryRouteIsCounted(t *testing.T) {
	t.Parallel()
	var routes []string
	s := start(t, app.Config{
		Registration: true, OperatorAPI: true,
		Rate: ratelimit.Policy{PerMinute: 60_000, Burst: 1000}, FarmRate: ratelimit.Policy{PerMinute: 60_000, Burst: 1000},
		Routes: func(mux *http.ServeMux) { routes = patternsOf(mux) },
	})
	if len(routes) < 150 {
		t.Fatalf("only %d routes were found", len(routes))
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	part := regexp.MustCompile(`\{[^}]*\}`)
	for _, route := range routes {
		method, path, both := strings.Cut(route, " ")
		if !both {
			method, path = "GET", route
		}
		path = part.ReplaceAllString(strings.TrimSuffix(path, "{$}"), "x")
		r, err := http.NewRequestWithContext(t.Context(), method, s.base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := client.Do(r)
		if err != nil {
			t.Fatalf("%s: %v", route, err)
		}
		_ = res.Body.Close()
		if counted := res.Header.Get("RateLimit-Policy") != ""; counted == slices.Contains(uncounted, route) {
			t.Errorf("%s is counted: %v", route, counted)
		}
	}
}

// patternsOf lists the patterns of a mux, which has no method for that.
func patternsOf(mux *http.ServeMux) (patterns []string) {
	index := reflect.ValueOf(mux).Elem().FieldByName("index")
	add := func(list reflect.Value) {
		for i := range list.Len() {
			patterns = append(patterns, list.Index(i).Elem().FieldByName("str").String())
		}
	}
	add(index.FieldByName("multis"))
	for all := index.FieldByName("segments").MapRange(); all.Next(); {
		add(all.Value())
	}
	slices.Sort(patterns)
	return slices.Compact(patterns)
}
