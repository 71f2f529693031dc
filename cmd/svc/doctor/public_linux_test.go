package doctor_test

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"

	"svc.example/cmd/svc/doctor"
	"svc.example/internal/app"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/test/nginxtest"
	"svc.example/internal/test/story"
)

// TestWhatAProxyBreaksIsNamedWithTheLineToChange: a real nginx, with the configuration that
// operators copy, and with one fault each.
func TestWhatAProxyBreaksIsNamedWithTheLineToChange(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edits []string
		hops  int
		other bool // the service has another public address
		want  map[string]string
	}{
		"as documented": {hops: 1},
		"small bodies": {hops: 1, edits: []string{"client_max_body_size 101m;", ""},
			want: map[string]string{"body_limit": "Allow bodies of 101 MiB. In nginx: client_max_body_size 101m;"}},
		"more hops than proxies": {hops: 2,
			want: map[string]string{"forwarded_address": "Start svc serve with --trusted-hops N, the number of proxies in front of it"}},
		"no metadata": {hops: 1, edits: []string{"location / {", "location /.well-known/ { return 404; }\n location / {"},
			want: map[string]string{"metadata_paths": "Have the proxy pass /.well-known/ to svc, except /.well-known/acme-challenge/"}},
		"everything fails": {hops: 1, edits: []string{"location / {", "location / { return 503;"},
			want: map[string]string{"public_address": "Have the proxy pass all paths to svc"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			listen := story.FreeAddress(t)
			address := nginxtest.Start(t, "../../../docs/install.md", story.FreeAddress(t), "http://"+listen, c.edits...)
			svc := story.StartLone(t, app.Config{
				Listen: listen, Data: t.TempDir(), Log: story.LogOf(t), PublicURL: address, TrustedHops: c.hops,
				Rate: ratelimit.Policy{PerMinute: 60, Burst: 20},
			})
			found := doctor.Public(t.Context(), doctor.Address{
				URL: address, TrustedHops: c.hops, Key: svc.Caller(0).Agent.Secret, Client: &http.Client{Transport: &http.Transport{ExpectContinueTimeout: 1 << 40}},
			})
			want := c.want
			if want == nil {
				want = map[string]string{}
			}
			if got := failed(found); !maps.Equal(got, want) {
				t.Errorf("%q, want %q, of %+v", got, want, found)
			}
		})
	}
}

func TestAnAddressThatNobodyAnswersIsOneFinding(t *testing.T) {
	t.Parallel()
	found := doctor.Public(t.Context(), doctor.Address{URL: "http://" + story.FreeAddress(t), Client: http.DefaultClient})
	if len(found) != 1 || found[0].OK || found[0].Change != "Correct --public-url, the name's record, or the proxy" {
		t.Errorf("%+v", found)
	}
}

// whole reads an answer to its end before it gives any of it.
type whole struct {
	io.ReadCloser
	read *bytes.Reader
}

func (w *whole) Read(p []byte) (int, error) {
	if w.read == nil {
		all, err := io.ReadAll(w.ReadCloser)
		if err != nil {
			return 0, err
		}
		w.read = bytes.NewReader(all)
	}
	return w.read.Read(p)
}

// TestAProxyThatKeepsEventsBackIsNamed: nginx sends each piece of a stream even where it buffers.
func TestAProxyThatKeepsEventsBackIsNamed(t *testing.T) {
	t.Parallel()
	svc := story.StartLone(t, app.Config{Data: t.TempDir(), Log: story.LogOf(t)})
	to, err := url.Parse(svc.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(to) },
		ModifyResponse: func(r *http.Response) error { r.Body = &whole{ReadCloser: r.Body}; return nil },
	})
	t.Cleanup(proxy.Close)
	caller := svc.Caller(0)
	for _, key := range []string{caller.Agent.Secret, caller.Account.Secret} {
		found := doctor.Public(t.Context(), doctor.Address{URL: proxy.URL, Key: key, Client: http.DefaultClient})
		if change := failed(found)["event_streams"]; change != "Have the proxy buffer no answers. In nginx: proxy_buffering off;" {
			t.Errorf("%+v", found)
		}
	}
}

// TestHTTPSWithoutATrustedProxyIsNamed: svc itself speaks no TLS.
func TestHTTPSWithoutATrustedProxyIsNamed(t *testing.T) {
	t.Parallel()
	proxy := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(proxy.Close)
	for hops, want := range []bool{true, false} {
		_, named := failed(doctor.Public(t.Context(), doctor.Address{URL: proxy.URL, TrustedHops: hops, Client: proxy.Client()}))["forwarded_address"]
		if named != want {
			t.Errorf("with %d trusted proxies: it is named: %v", hops, named)
		}
	}
}
