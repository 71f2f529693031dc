package app_test

import (
	"strings"
	"testing"

	"svc.example/internal/app"
)

// TestAPublicURLIsAHostAlone: routes begin at the root of a host, so that a path in front of
// them would start and lead nowhere.
func TestAPublicURLIsAHostAlone(t *testing.T) {
	t.Parallel()
	for url, says := range map[string]string{
		"https://render.example/svc":  "host name of its own",
		"https://render.example/#x":   "host name of its own",
		"https://me@render.example":   "host name of its own",
		"render.example":              "not of the form",
		"https://render.example/?a=b": "not of the form",
		"ftp://render.example":        "not of the form",
	} {
		a, err := app.Open(t.Context(), app.Config{Data: t.TempDir(), PublicURL: url})
		if err == nil {
			_ = a.Close()
		}
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", url, err)
		}
	}
}
