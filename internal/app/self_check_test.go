package app_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"svc.example/internal/app"
)

// TestThePublicURLMustLeadToThisService calls the service itself, another one, a server
// that is not svc, and a dead address.
func TestThePublicURLMustLeadToThisService(t *testing.T) {
	t.Parallel()
	s, other := start(t, app.Config{}), start(t, app.Config{})
	proxy := httptest.NewServer(http.NotFoundHandler())
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	t.Cleanup(proxy.Close)
	if err := s.app.CallPublicURL(t.Context(), s.base); err != nil {
		t.Errorf("its own address: %v", err)
	}
	for address, says := range map[string]string{other.base: "another service", proxy.URL: "404", gone.URL: "refused"} {
		if err := s.app.CallPublicURL(t.Context(), address); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want it to say %q", address, err, says)
		}
	}
}
