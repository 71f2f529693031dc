package agent_test

import (
	"crypto/x509"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"svc.example/internal/app"
	"svc.example/internal/ground/demo"
	"svc.example/internal/ground/outbound"
	"svc.example/internal/test/await"
	"svc.example/internal/test/dbtest"
)

// elsewhere is a stranger's server with files; what it serves under /held waits
// for release.
type elsewhere struct {
	*httptest.Server
	asked   chan struct{} // one for each request of /held
	release chan struct{}
	times   atomic.Int64 // requests in all
}

func newElsewhere(t *testing.T) *elsewhere {
	e := &elsewhere{asked: make(chan struct{}, 10), release: make(chan struct{})}
	mux := http.NewServeMux()
	file := func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(demo.Scene()) }
	mux.HandleFunc("/scene.blend", file)
	mux.HandleFunc("/download", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Disposition", `attachment; filename="their scene.blend"`)
		file(w, r)
	})
	mux.HandleFunc("/eevee.blend", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(eevee(t)) })
	mux.HandleFunc("/page", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>sign in</html>")) })
	mux.Handle("/moved", http.RedirectHandler("/scene.blend", http.StatusFound))
	mux.HandleFunc("/cut.blend", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(demo.Scene())))
		_, _ = w.Write(demo.Scene()[:1000])
	})
	mux.HandleFunc("/held/scene.blend", func(w http.ResponseWriter, r *http.Request) {
		select {
		case e.asked <- struct{}{}:
		default: // no test waits for so many
		}
		select {
		case <-e.release:
			file(w, r)
		case <-r.Context().Done():
		}
	})
	e.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.times.Add(1)
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(e.Close)
	return e
}

// reachable lets a service call the stranger's server, which is no public one.
func (e *elsewhere) reachable(c *app.Config) {
	roots := x509.NewCertPool()
	roots.AddCert(e.Certificate())
	c.FileURLs = outbound.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}, Roots: roots}
}

// arrived asks for an upload until it is here, or refused.
func (c *client) arrived(a answer) answer {
	c.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !a.refused && a.at("status") == "fetching" {
		a.want("next_tool", "svc_inspect")
		select {
		case <-tick.C:
		case <-c.t.Context().Done():
			c.t.Fatal("the file never came")
		}
		a = c.call("svc_inspect", a.at("next_arguments"))
	}
	return a
}

func TestAFileIsFetchedFromAnAddress(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		e := newElsewhere(t)
		svc := start(t, url, e.reachable)
		c := svc.client(svc.agent)
		for path, name := range map[string]string{"/scene.blend": "scene.blend", "/download?file=1": "their scene.blend"} {
			a := c.arrived(c.call("svc_inspect", map[string]any{"file_url": e.URL + path}))
			a.want("status", "inspected")
			a.want("from_file.filename", name)
			a.want("next_tool", "svc_start")
		}
		for path, want := range map[string]string{
			"/eevee.blend": "engine_not_supported", "/page": "unsupported_file", "/moved": "file_not_fetched", "/nothing": "file_not_fetched", "/cut.blend": "file_not_fetched",
		} {
			a := c.arrived(c.call("svc_inspect", map[string]any{"file_url": e.URL + path}))
			a.wantRefusal(want)
			a.want("next_tool", "svc_inspect")
		}
	})
}

func TestOnlyPublicAddressesAreFetched(t *testing.T) {
	t.Parallel()
	e := newElsewhere(t)
	svc := one(t) // as an operator runs it
	c := svc.client(svc.agent)
	for _, address := range []string{e.URL + "/scene.blend", "https://169.254.169.254/latest/scene.blend", "https://user:word@example.com/a.blend", "https://[::1]/a.blend"} {
		c.call("svc_inspect", map[string]any{"file_url": address}).wantRefusal("invalid_file_url")
	}
	for _, address := range []string{"http://example.com/a.blend", "file:///etc/passwd", ""} {
		c.call("svc_inspect", map[string]any{"file_url": address}).wantRefusal("invalid_request")
	}
	if n := e.times.Load(); n != 0 {
		t.Errorf("%d requests went out", n)
	}
}

// TestAFetchOutlivesTheServer ends the server in the middle of a fetch: the next
// one begins it again.
func TestAFetchOutlivesTheServer(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		e := newElsewhere(t)
		svc := start(t, url, e.reachable)
		a := svc.client(svc.agent).call("svc_inspect", map[string]any{"file_url": e.URL + "/held/scene.blend"})
		a.want("status", "fetching")
		if a.at("poll_after_seconds") == nil {
			svc.t.Errorf("it does not say when to ask again: %v", a.object)
		}
		await.Next(t, e.asked, "the first fetch")
		svc.stop()
		svc.serve()
		await.Next(t, e.asked, "the repeated fetch")
		close(e.release)
		a = svc.client(svc.agent).arrived(a)
		a.want("status", "inspected")
	})
}

func TestFewFilesAreFetchedAtOnce(t *testing.T) {
	t.Parallel()
	e := newElsewhere(t)
	svc := start(t, dbtest.URL(t, "sqlite"), e.reachable)
	c := svc.client(svc.agent)
	for i := range 5 {
		a := c.call("svc_inspect", map[string]any{"file_url": e.URL + "/held/scene.blend"})
		if a.refused != (i == 4) {
			t.Errorf("number %d: %v", i+1, a.object)
		}
		if a.refused {
			a.wantRefusal("rate_limited")
			a.want("poll_after_seconds", 10)
		}
	}
	close(e.release)
}
