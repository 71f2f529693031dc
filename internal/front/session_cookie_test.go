package front

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestOverHTTPSOnlyACookieOfThisVeryHostIsASession(t *testing.T) {
	t.Parallel()
	for cookies, want := range map[string]string{
		"svc_session=planted":                                   "",
		"a=1; __Host-svc_session=own; svc_mode=test":            "own",
		"svc_session=planted; __Host-svc_session=own":           "own",
		"__Host-svc_session=own;svc_session=planted":            "own",
		"__host-svc_session=planted; x__Host-svc_session=other": "",
		"": "",
	} {
		for _, https := range []bool{true, false} {
			var got, other string
			mux := http.NewServeMux()
			f := newFront(mux, slog.DiscardHandler)
			f.HTTPS = https
			mux.HandleFunc("GET /", func(_ http.ResponseWriter, r *http.Request) {
				got = session(r)
				if c, err := r.Cookie("svc_mode"); err == nil {
					other = c.Value
				}
			})
			r := httptest.NewRequest("GET", "/", nil)
			if cookies != "" {
				r.Header.Set("Cookie", cookies)
			}
			f.ServeHTTP(httptest.NewRecorder(), r)
			if https && got != want {
				t.Errorf("%q: the session is %q, want %q", cookies, got, want)
			}
			if !https && got == "own" {
				t.Errorf("%q over plain HTTP: the session is %q", cookies, got)
			}
			if (other == "test") != (cookies == "a=1; __Host-svc_session=own; svc_mode=test") {
				t.Errorf("%q: the mode is %q", cookies, other)
			}
		}
	}
}
