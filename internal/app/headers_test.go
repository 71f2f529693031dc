package app_test

import (
	"net/http"
	"strings"
	"testing"

	"svc.example/internal/app"
)

// TestHeadersHaveABound: they are kept for as long as a request is open.
func TestHeadersHaveABound(t *testing.T) {
	t.Parallel()
	s := start(t, app.Config{})
	for length, want := range map[int]int{24 << 10: http.StatusOK, 64 << 10: http.StatusRequestHeaderFieldsTooLarge} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.base+"/v1/health", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Long", strings.Repeat("y", length))
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatalf("%d bytes: %v", length, err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%d bytes of headers: %s, want %d", length, answer.Status, want)
		}
	}
}
