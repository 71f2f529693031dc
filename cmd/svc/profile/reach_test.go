package profile

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"svc.example/client"
)

func TestAWrongServerSaysWhatIsWrongAndWhatToDo(t *testing.T) {
	t.Parallel()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + closed.Addr().String()
	_ = closed.Close()
	serve := func(status int, body string) *httptest.Server {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}))
		s.Config.ErrorLog = log.New(io.Discard, "", 0)
		t.Cleanup(s.Close)
		return s
	}
	page, missing, proxy, encrypted, svc := serve(200, "<html>"), serve(404, "not found"), serve(502, "bad gateway"), serve(200, "{}"), serve(401, `{"error":{"code":"unauthenticated","message":"no"}}`)
	for _, s := range []*httptest.Server{page, missing, proxy, svc} {
		s.Start()
	}
	encrypted.StartTLS()
	large, forbidden, many, network := serve(413, "<html>too large"), serve(403, "<html>"), serve(429, "<html>"), serve(511, "<html>")
	password := serve(401, "<html>")
	signIn := httptest.NewServer(http.RedirectHandler("https://login.invalid/?to=here", http.StatusFound))
	t.Cleanup(signIn.Close)
	for _, s := range []*httptest.Server{large, forbidden, many, network, password} {
		s.Start()
	}
	loop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) }))
	t.Cleanup(loop.Close)
	sameHost := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/login" {
			http.Redirect(w, r, "/login?to=here", http.StatusFound)
		}
		fmt.Fprint(w, "<html>")
	}))
	t.Cleanup(sameHost.Close)
	packed := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		fmt.Fprint(w, `{"ok": true, "job": {}}`)
	}))
	t.Cleanup(packed.Close)
	short := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "400")
		fmt.Fprint(w, "{")
	}))
	t.Cleanup(short.Close)
	noTLS := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://"+r.Host+"/", http.StatusFound)
	}))
	t.Cleanup(noTLS.Close)
	plainToTLS := "http" + strings.TrimPrefix(encrypted.URL, "https")
	tlsToPlain := "https" + strings.TrimPrefix(page.URL, "http")
	for server, want := range map[string]string{
		packed.URL:                 "the answer of " + packed.URL + " cannot be read (gzip: invalid header). Run the command again",
		short.URL:                  "the answer of " + short.URL + " cannot be read (it ends early). Run the command again",
		network.URL:                "refuses the request (511 Network Authentication Required), not the service. Sign in to the network",
		nobody:                     "nothing answers at " + nobody + " (",
		"http://nowhere.invalid":   "the name nowhere.invalid does not resolve",
		page.URL:                   "what answers at " + page.URL + " is not svc: its answer is not svc's JSON",
		missing.URL + "/elsewhere": "is not svc: it says 404 Not Found",
		proxy.URL:                  "a proxy answers at " + proxy.URL + " (502 Bad Gateway) instead of the service behind it",
		large.URL:                  "a proxy or firewall in front of " + large.URL + " refuses the request (413 Request Entity Too Large), not the service. Ask the service's operator to let the proxy pass uploads",
		forbidden.URL:              "refuses the request (403 Forbidden), not the service. Ask whoever runs the network",
		password.URL:               "refuses the request (401 Unauthorized), not the service. Ask whoever runs the network",
		many.URL:                   "refuses the request (429 Too Many Requests), not the service. Wait a minute",
		signIn.URL:                 signIn.URL + " redirects to https://login.invalid, which looks like a sign-in page. Sign in there",
		noTLS.URL:                  noTLS.URL + " redirects to https, and nothing there speaks TLS. Check",
		loop.URL:                   "the redirects of " + loop.URL + " go in a circle. Check",
		sameHost.URL:               sameHost.URL + " redirects to " + sameHost.URL + "/login, which looks like a sign-in page. Sign in there",
		encrypted.URL:              "TLS fails: nobody whom this machine trusts has signed the certificate",
		plainToTLS:                 "speaks TLS, and http was asked for. Use " + encrypted.URL,
		tlsToPlain:                 "does not speak TLS, and https was asked for. Use " + page.URL,
		svc.URL:                    "",
	} {
		c, err := client.New(server, "svc_agent_any", client.WithAttempts(1))
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Job(t.Context(), "JOB-1")
		said := ""
		if shown := Unreachable(server, err); shown != nil {
			said = shown.Error()
		}
		if !strings.Contains(said, want) || (want == "") != (said == "") {
			t.Errorf("%s: said %q for %v, want %q", server, said, err, want)
		}
	}
}
