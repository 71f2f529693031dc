package outbound_test

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"svc.example/internal/ground/outbound"
	"svc.example/internal/test/nametest"
)

// refusedHosts are all the forms in which an address can be written that no
// untrusted caller may have called.
var refusedHosts = []string{
	// This machine, private networks, the carrier's, link-local with clouds' metadata.
	"127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1",
	"100.64.0.1", "100.127.255.255", "100.100.100.200", "169.254.0.1", "169.254.169.254", "168.63.129.16", "192.0.0.192",
	// Documentation, benchmarks, relays, multicast, reserved, broadcast.
	"192.0.2.1", "198.51.100.1", "203.0.113.1", "198.18.0.1", "198.19.255.255", "192.88.99.1", "192.31.196.1", "192.52.193.1", "192.175.48.1",
	"224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
	// The same in IPv6.
	"[::1]", "[::]", "[fc00::1]", "[fd00:ec2::254]", "[fe80::1]", "[fec0::1]", "[ff02::1]", "[ff0e::1]", "[2001:db8::1]", "[3fff::1]", "[2001:2::1]",
	"[100::1]", "[5f00::1]", "[2001:10::1]", "[2001:20::1]", "[2620:4f:8000::1]", "[4000::1]",
	// IPv4 translated: mapped, compatible, NAT64, 6to4, Teredo, ISATAP on a link.
	"[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::ffff:8.8.8.8]", "[::ffff:0:127.0.0.1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b::8.8.8.8]",
	"[64:ff9b:1::7f00:1]", "[2002:7f00:1::1]", "[2002:808:808::1]", "[2001:0:7f00:1::1]", "[2001::1]", "[fe80::5efe:127.0.0.1]",
	// Zones.
	"[fe80::1%25eth0]", "[::1%25lo]", "[2606:4700:4700::1111%25eth0]",
	// Old and odd ways to write IPv4.
	"2130706433", "017700000001", "0x7f000001", "0x7F.1", "0177.0.0.1", "0x7f.0x0.0x0.0x1", "127.1", "127.0.1", "127.0.0.1.", "127.0.0.01", "08.8.8.8",
	"0x", "0", "1.2.3", "8.8.8.8.", "256.256.256.256", "1.2.3.4.5", "foo.0x7f", "foo.127",
	"１２７.０.０.１", "127。0。0。1", "①②⑦.⓪.⓪.①", "%31%32%37.0.0.1", "127.0.0.1%00", "127.0.0.1%20",
	// Names.
	"localhost", "localhost.", "LOCALHOST", "bücher.example", "xn--nothing-here.example", "gone.example",
	"private.example", "mixed.example", "six.example", "mapped.example", "translated.example", "empty.example",
}

func TestAddressesThatNoStrangerMayCall(t *testing.T) {
	t.Parallel()
	dns := nametest.Serve(t, map[string][]string{
		"private.example": {"10.1.2.3"}, "mixed.example": {"93.184.216.34", "192.168.1.1"}, "six.example": {"fd00::1"},
		"mapped.example": {"::ffff:10.0.0.1"}, "translated.example": {"64:ff9b::a00:1"}, "empty.example": {},
		"localhost": {"127.0.0.1"},
	})
	guard := outbound.New(outbound.Config{Resolver: dns.Resolver()})
	client := guard.Client(outbound.Limits{Timeout: time.Minute, Body: 1})
	brief := guard.Client(outbound.Limits{Timeout: time.Second, Body: 1})
	for _, host := range refusedHosts {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			address := "https://" + host + ":8443/hook"
			mustRefuse(t, guard.Check(t.Context(), address))
			caller := client
			if host == "mixed.example" { // it has a public address too, which must not be answered here
				caller = brief
			}
			answer, err := caller.Get(address)
			if err == nil {
				_ = answer.Body.Close()
				t.Fatal("it was called")
			}
			if _, parses := url.Parse(address); parses == nil && host != "mixed.example" {
				mustNotDial(t, err)
			}
		})
	}
}

func mustRefuse(t *testing.T, err error) {
	t.Helper()
	if _, ok := errors.AsType[*outbound.Refused](err); !ok {
		t.Errorf("got %v, want a refusal", err)
	}
}

// mustNotDial wants a refusal, or an unknown name.
func mustNotDial(t *testing.T, err error) {
	t.Helper()
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return
	}
	mustRefuse(t, err)
}

func TestFormsOfAddressThatAreRefused(t *testing.T) {
	t.Parallel()
	dns := nametest.Serve(t, map[string][]string{"a.example": {"93.184.216.34"}})
	guard := outbound.New(outbound.Config{Resolver: dns.Resolver()})
	client := guard.Client(outbound.Limits{Timeout: time.Minute, Body: 1})
	for _, address := range []string{
		"", "a.example/hook", "//a.example/hook", "/hook", "https:", "https://", "https:///hook", "https:a.example", "https://:443/",
		"http://a.example/", "HTTP://a.example/", "ftp://a.example/", "file:///etc/passwd", "gopher://a.example/", "unix:///run/docker.sock", "javascript:0",
		"https://user@a.example/", "https://user:secret@a.example/", "https://@a.example/", "https://a.example@127.0.0.1/", "https://a.example%40127.0.0.1/",
		"https://a.example:80/", "https://a.example:22/", "https://a.example:1023/", "https://a.example:0/", "https://a.example:65536/", "https://a.example:-1/",
		"https://a.example:99999999999/", "https://a.example:https/", "https://a.example:443:443/",
		"https://a.example\\@127.0.0.1/", "https://a.example\r\nHost: b/", "https://a.example\t/", "https://a ex.example/", " https://a.example/",
		"https://[::1/", "https://::1/", "https://[127.0.0.1]/", "https://[a.example]/",
	} {
		t.Run(address, func(t *testing.T) {
			t.Parallel()
			mustRefuse(t, guard.Check(t.Context(), address))
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader("{}"))
			if err != nil {
				return // no request can be made of it
			}
			if answer, err := client.Do(r); err == nil {
				_ = answer.Body.Close()
				t.Error("it was called")
			}
		})
	}
}

func TestPublicAddressesAreTaken(t *testing.T) {
	t.Parallel()
	dns := nametest.Serve(t, map[string][]string{
		"a.example": {"93.184.216.34"}, "b.example": {"93.184.216.34", "2606:2800:220:1::1"}, "xn--bcher-kva.example": {"93.184.216.34"},
	})
	guard := outbound.New(outbound.Config{Resolver: dns.Resolver()})
	for _, address := range []string{
		"https://a.example", "https://a.example/hook?token=1#part", "https://a.example:443/", "https://A.EXAMPLE:1024/", "https://a.example.:65535/",
		"https://b.example/", "https://xn--bcher-kva.example/", "HTTPS://a.example/", "https://8.8.8.8/", "https://[2606:4700:4700::1111]:8443/",
		"https://172.15.255.255/", "https://172.32.0.1/", "https://100.63.255.255/", "https://100.128.0.1/", "https://192.167.255.255/", "https://11.0.0.1/",
	} {
		if err := guard.Check(t.Context(), address); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// receiver is an HTTPS server on this machine that counts what reaches it.
type receiver struct {
	*httptest.Server
	hits atomic.Int64
}

func receive(t *testing.T, answer http.HandlerFunc) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.hits.Add(1)
		answer(w, q)
	}))
	r.Config.ErrorLog = log.New(io.Discard, "", 0) // callers that distrust its certificate
	r.StartTLS()
	t.Cleanup(r.Close)
	return r
}

// at is the receiver's address under a name that its certificate is for.
func (r *receiver) at(path string) string {
	_, port, _ := net.SplitHostPort(r.Listener.Addr().String())
	return "https://example.com:" + port + path
}

func (r *receiver) roots() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(r.Certificate())
	return pool
}

var thisMachine = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

func TestANameThatResolvesDifferentlyLaterIsRefusedAtTheSocket(t *testing.T) {
	t.Parallel()
	r := receive(t, func(http.ResponseWriter, *http.Request) {})
	dns := nametest.Serve(t, map[string][]string{"example.com": {"93.184.216.34"}})
	guard := outbound.New(outbound.Config{Resolver: dns.Resolver(), Roots: r.roots()})
	if err := guard.Check(t.Context(), r.at("/")); err != nil {
		t.Fatalf("a public address: %v", err)
	}
	for _, now := range [][]string{{"127.0.0.1"}, {"::ffff:127.0.0.1"}, {"::1", "127.0.0.1"}} {
		dns.Set("example.com", now...)
		_, err := guard.Client(outbound.Limits{Timeout: time.Minute, Body: 1}).Post(r.at("/"), "application/json", strings.NewReader("{}"))
		mustRefuse(t, err)
		mustRefuse(t, guard.Check(t.Context(), r.at("/")))
	}
	if n := r.hits.Load(); n != 0 {
		t.Errorf("%d calls reached this machine", n)
	}
}

func TestAnOperatorMayAllowARange(t *testing.T) {
	t.Parallel()
	r := receive(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "taken") })
	dns := nametest.Serve(t, map[string][]string{"example.com": {"127.0.0.1"}, "other.example": {"10.0.0.1"}})
	guard := outbound.New(outbound.Config{Resolver: dns.Resolver(), Roots: r.roots(), Allow: thisMachine})
	if err := guard.Check(t.Context(), r.at("/")); err != nil {
		t.Fatal(err)
	}
	mustRefuse(t, guard.Check(t.Context(), "https://other.example/"))
	mustRefuse(t, guard.Check(t.Context(), "https://example.com:80/"))
	mustRefuse(t, guard.Check(t.Context(), "http://example.com/"))
	body, err := get(guard, r.at("/"), 100)
	if err != nil || body != "taken" {
		t.Errorf("%q, %v", body, err)
	}
}

func get(guard *outbound.Guard, address string, most int64) (string, error) {
	answer, err := guard.Client(outbound.Limits{Timeout: time.Minute, Body: most}).Get(address)
	if err != nil {
		return "", err
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	return string(body), err
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	for _, status := range []int{301, 302, 303, 307, 308} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			r := receive(t, func(w http.ResponseWriter, q *http.Request) { http.Redirect(w, q, "/next", status) })
			dns := nametest.Serve(t, map[string][]string{"example.com": {"127.0.0.1"}})
			guard := outbound.New(outbound.Config{Resolver: dns.Resolver(), Roots: r.roots(), Allow: thisMachine})
			answer, err := guard.Client(outbound.Limits{Timeout: time.Minute, Body: 1000}).Get(r.at("/"))
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			if answer.StatusCode != status || r.hits.Load() != 1 {
				t.Errorf("status %d after %d calls", answer.StatusCode, r.hits.Load())
			}
		})
	}
}

func TestACertificateOfNobodyIsRefused(t *testing.T) {
	t.Parallel()
	r := receive(t, func(http.ResponseWriter, *http.Request) {})
	dns := nametest.Serve(t, map[string][]string{"example.com": {"127.0.0.1"}, "other.test": {"127.0.0.1"}})
	for name, c := range map[string]struct {
		roots *x509.CertPool
		host  string
	}{
		"unknown authority": {x509.NewCertPool(), "example.com"}, "another name": {r.roots(), "other.test"},
	} {
		guard := outbound.New(outbound.Config{Resolver: dns.Resolver(), Roots: c.roots, Allow: thisMachine})
		if _, err := get(guard, strings.Replace(r.at("/"), "example.com", c.host, 1), 1); err == nil {
			t.Errorf("%s: it was called", name)
		}
	}
	if n := r.hits.Load(); n != 0 {
		t.Errorf("%d calls got through", n)
	}
}

func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()
	r := receive(t, func(w http.ResponseWriter, q *http.Request) {
		switch q.URL.Path {
		case "/body":
			_, _ = io.WriteString(w, strings.Repeat("x", 1000))
		case "/header":
			w.Header().Set("X-Long", strings.Repeat("x", 100<<10))
		case "/never":
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			<-q.Context().Done()
			panic(http.ErrAbortHandler) // an end would reach a caller that is about to close
		}
	})
	dns := nametest.Serve(t, map[string][]string{"example.com": {"127.0.0.1"}})
	guard := outbound.New(outbound.Config{Resolver: dns.Resolver(), Roots: r.roots(), Allow: thisMachine})
	if body, err := get(guard, r.at("/body"), 1000); err != nil || len(body) != 1000 {
		t.Errorf("a body at the bound: %d bytes, %v", len(body), err)
	}
	if body, err := get(guard, r.at("/body"), 999); !errors.Is(err, outbound.ErrTooLarge) || len(body) != 999 {
		t.Errorf("a body above the bound: %d bytes, %v", len(body), err)
	}
	if _, err := get(guard, r.at("/header"), 1); err == nil {
		t.Error("100 KiB of headers were taken")
	}
	// On a busy machine the time may be over before the head has come.
	for short := 200 * time.Millisecond; ; short *= 2 {
		answer, err := guard.Client(outbound.Limits{Timeout: short, Body: 1000}).Get(r.at("/never"))
		if err != nil {
			if timeout, ok := errors.AsType[net.Error](err); !ok || !timeout.Timeout() {
				t.Fatal(err)
			}
			continue
		}
		if _, err := io.ReadAll(answer.Body); err == nil {
			t.Error("a body that never ends was waited for")
		}
		_ = answer.Body.Close()
		break
	}
}

func TestNoProxyOfTheEnvironment(t *testing.T) {
	var used atomic.Bool
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { used.Store(true) }))
	t.Cleanup(proxy.Close)
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "ALL_PROXY"} {
		t.Setenv(name, proxy.URL)
	}
	r := receive(t, func(http.ResponseWriter, *http.Request) {})
	dns := nametest.Serve(t, map[string][]string{"example.com": {"127.0.0.1"}})
	guard := outbound.New(outbound.Config{Resolver: dns.Resolver(), Roots: r.roots(), Allow: thisMachine})
	if _, err := get(guard, r.at("/"), 1); err != nil {
		t.Fatal(err)
	}
	if used.Load() {
		t.Error("the call went through a proxy")
	}
}

func FuzzNoFormOfAddressReachesThisMachine(f *testing.F) {
	for _, host := range refusedHosts {
		f.Add("https://" + host + "/")
	}
	f.Fuzz(func(t *testing.T, address string) {
		u, err := url.Parse(address)
		if err != nil {
			return
		}
		ip, err := netip.ParseAddr(u.Hostname())
		if err != nil || !(ip.Unmap().IsLoopback() || ip.Unmap().IsPrivate() || ip.Unmap().IsLinkLocalUnicast() || ip.Unmap().IsMulticast() || ip.Unmap().IsUnspecified()) {
			return
		}
		mustRefuse(t, outbound.New(outbound.Config{}).Check(t.Context(), address))
	})
}
