package blob

import (
	"strings"
	"testing"

	"github.com/minio/minio-go/v7/pkg/cors"
)

// TestCORSRulesAreEnoughForBrowsersOrSayWhatTheyLack reads rules as operators write them.
func TestCORSRulesAreEnoughForBrowsersOrSayWhatTheyLack(t *testing.T) {
	t.Parallel()
	all := []string{"etag", "content-range", "Accept-Ranges", "Content-Disposition"}
	enough := cors.Rule{AllowedOrigin: []string{"*"}, AllowedMethod: []string{"GET", "HEAD"}, ExposeHeader: all}
	for name, c := range map[string]struct {
		rules []cors.Rule
		lacks string
	}{
		"enough":          {[]cors.Rule{enough}, ""},
		"one of two":      {[]cors.Rule{{AllowedOrigin: []string{"https://a.example"}}, enough}, ""},
		"none":            {nil, "GET and HEAD"},
		"one origin":      {[]cors.Rule{{AllowedOrigin: []string{"https://a.example"}, AllowedMethod: enough.AllowedMethod, ExposeHeader: all}}, "any origin"},
		"no HEAD":         {[]cors.Rule{{AllowedOrigin: enough.AllowedOrigin, AllowedMethod: []string{"GET"}, ExposeHeader: all}}, "HEAD"},
		"a hidden header": {[]cors.Rule{{AllowedOrigin: enough.AllowedOrigin, AllowedMethod: enough.AllowedMethod, ExposeHeader: all[:2]}}, "Accept-Ranges, Content-Disposition"},
	} {
		if got := lacksOf(c.rules); (got == "") != (c.lacks == "") || !strings.Contains(got, c.lacks) {
			t.Errorf("%s: %q, want %q", name, got, c.lacks)
		}
	}
}
