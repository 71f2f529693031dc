// Package outbound calls addresses that untrusted callers name: webhook targets, and
// files that an agent tool has to fetch.
//
// What always holds: the address is https with no user info, on port 443 or
// above 1023; every connection goes to a public address, which is looked at on
// the socket itself, after all name resolution, so that a name cannot change its
// mind; no proxy of the environment is used; no redirect is followed (a 3xx is
// an answer like any other); the server's certificate is verified; headers and
// body of the answer, and the time for all of it, are bounded. Check, for when
// an address is configured, and Client, for when it is called, follow this one
// rule. Both say what they refuse as a *Refused, in words for the caller.
//
// Which ranges are public is left to code.dny.dev/ssrf (the special-purpose
// registries of IANA); azureHost adds what those do not know. An operator whose
// network reaches private IPv4 addresses through a NAT64 prefix of its own must
// have that gateway refuse them (RFC 6052 3.1): no prefix tells such an address
// from a public one.
//
// Start reading at Guard, then form.
package outbound

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

// Refused says why an address is not called, in words that whoever gave it may
// read: they reveal nothing of the network here.
type Refused struct{ Reason string }

func (r *Refused) Error() string { return r.Reason }

func refuse(reason string) error { return &Refused{reason} }

// ErrTooLarge says that an answer's body is larger than the caller takes.
var ErrTooLarge = errors.New("the answer is too large")

// Config is what an operator, or a test, may change of the rule.
type Config struct {
	// Allow opens ranges that are not public, at the operator's own risk.
	Allow []netip.Prefix
	// Roots are the authorities that certificates are checked against; nil = the
	// system's.
	Roots *x509.CertPool
	// Resolver looks names up; nil = the system's.
	Resolver *net.Resolver
}

// Guard is the rule. It is safe for concurrent use.
type Guard struct {
	cfg       Config
	addresses *ssrf.Guardian
}

// azureHost is where a virtual machine on Azure meets its host: a public address
// in every registry, and nobody's business but the machine's own.
const azureHost = "168.63.129.16/32"

// New makes a guard.
func New(cfg Config) *Guard {
	var v4, v6 []netip.Prefix
	for _, p := range cfg.Allow {
		if p.Addr().Is4() {
			v4 = append(v4, p)
		} else {
			v6 = append(v6, p)
		}
	}
	return &Guard{cfg: cfg, addresses: ssrf.New(
		ssrf.WithAnyPort(), // portAllowed has the rule
		ssrf.WithAllowedV4Prefixes(v4...), ssrf.WithAllowedV6Prefixes(v6...),
		ssrf.WithDeniedV4Prefixes(netip.MustParsePrefix(azureHost)),
	)}
}

// lookupTimeout bounds how long Check waits for a name.
const lookupTimeout = 5 * time.Second

// Check looks at an address when it is configured: its form, and every address
// that its host has now. It opens no connection. An error that is no *Refused
// is the context's.
func (g *Guard) Check(ctx context.Context, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return refuse("it is no URL")
	}
	if err := form(u); err != nil {
		return err
	}
	host := u.Hostname()
	if ip, err := netip.ParseAddr(host); err == nil {
		return g.public(ip)
	}
	lookup, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	ips, err := g.resolver().LookupNetIP(lookup, "ip", host)
	if ctx.Err() != nil {
		return fmt.Errorf("look %s up: %w", host, ctx.Err())
	}
	if err != nil || len(ips) == 0 {
		return refuse("its host name has no address")
	}
	for _, ip := range ips {
		if err := g.public(ip); err != nil {
			return err
		}
	}
	return nil
}

func (g *Guard) resolver() *net.Resolver {
	if g.cfg.Resolver != nil {
		return g.cfg.Resolver
	}
	return net.DefaultResolver
}

// form is what can be said of an address before any name is looked up.
func form(u *url.URL) error {
	host := u.Hostname()
	switch {
	case u.Scheme != "https":
		return refuse("it must begin with https://")
	case u.User != nil:
		return refuse("it must not carry a user name or password")
	case host == "":
		return refuse("it names no host")
	case !portAllowed(u.Port()):
		return refuse("its port must be 443 or above 1023")
	case strings.Contains(host, "%"):
		return refuse("its host must have no zone")
	case strings.ContainsFunc(host, func(r rune) bool { return r > 0x7e || r <= ' ' }):
		return refuse("its host must be written in ASCII, other letters in punycode")
	}
	ip, err := netip.ParseAddr(host)
	if err == nil && ip.Is4In6() {
		return refuse("its host is an IPv4 address in IPv6 clothes")
	}
	if err != nil && endsInNumber(host) {
		return refuse("its host is neither a name nor an address in four decimal parts")
	}
	return nil
}

// endsInNumber is true of what some resolvers read as an IPv4 address in an old
// form: 2130706433, 0x7f.1, 0177.0.0.1, 127.1, 127.0.0.1. and the like. No top
// level domain is a number.
func endsInNumber(host string) bool {
	host = strings.TrimSuffix(host, ".")
	last := strings.ToLower(host[strings.LastIndex(host, ".")+1:])
	if strings.Trim(last, "0123456789") == "" {
		return true
	}
	hex, is := strings.CutPrefix(last, "0x")
	return is && strings.Trim(hex, "0123456789abcdef") == ""
}

// portAllowed takes "" for the scheme's own port.
func portAllowed(port string) bool {
	if port == "" {
		return true
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && (n == 443 || n > 1023)
}

// public refuses an address that is not one of the internet. Resolvers hand IPv4
// addresses out in IPv6 clothes, which the socket takes off again.
func (g *Guard) public(ip netip.Addr) error {
	if g.addresses.SafeAddr(ip.Unmap()) != nil {
		return refuse("its host is not a public address")
	}
	return nil
}

// atSocket is the rule's last word: the address that is really connected to.
func (g *Guard) atSocket(network, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil || (network != "tcp4" && network != "tcp6") {
		return refuse("its host is not a public address")
	}
	if !portAllowed(strconv.Itoa(int(to.Port()))) {
		return refuse("its port must be 443 or above 1023")
	}
	return g.public(to.Addr())
}

// Limits bound one call.
type Limits struct {
	// Timeout is for all of it, from the look-up to the answer's last byte.
	Timeout time.Duration
	// Body is how many bytes of the answer are read; more is ErrTooLarge.
	Body int64
}

// Bounds of what every call has in common.
const (
	maxAnswerHeader = 64 << 10
	idleTimeout     = 30 * time.Second
	idlePerHost     = 8    // as many as a webhook lane has calls open: fewer cost a handshake each
	idleInAll       = 1000 // of a hundred busy receivers, each with its lane
)

// Client makes a client that keeps to the rule. Its answers are as they came:
// what is compressed stays so.
func (g *Guard) Client(l Limits) *http.Client {
	dialer := &net.Dialer{Timeout: l.Timeout, Control: g.atSocket, Resolver: g.cfg.Resolver}
	return &http.Client{
		Timeout:       l.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &guarded{body: l.Body, next: &http.Transport{
			Proxy:                  nil, // never the environment's: it would connect for us, unguarded
			DialContext:            dialer.DialContext,
			TLSClientConfig:        &tls.Config{RootCAs: g.cfg.Roots, MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout:    l.Timeout,
			MaxResponseHeaderBytes: maxAnswerHeader,
			DisableCompression:     true, // or a small answer could become a large one
			MaxIdleConns:           idleInAll,
			MaxIdleConnsPerHost:    idlePerHost,
			IdleConnTimeout:        idleTimeout,
		}},
	}
}

// guarded looks at a request's address before it goes out and bounds the answer.
type guarded struct {
	next http.RoundTripper
	body int64
}

func (g *guarded) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := form(r.URL); err != nil {
		if r.Body != nil {
			_ = r.Body.Close() // a RoundTripper always does
		}
		return nil, err
	}
	answer, err := g.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	answer.Body = &bounded{ReadCloser: answer.Body, left: g.body}
	return answer, nil
}

// CloseIdleConnections lets http.Client do what it promises.
func (g *guarded) CloseIdleConnections() {
	if c, ok := g.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// bounded is a body that ends in ErrTooLarge once more than left has come.
type bounded struct {
	io.ReadCloser
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, ErrTooLarge
	}
	if int64(len(p)) > b.left+1 { // one more shows whether that was the end
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n - 1, ErrTooLarge
	}
	return n, err
}

// Roots are the system's authorities and those of a PEM file, for Config.
func Roots(pem []byte) (*x509.CertPool, error) {
	pool, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("read the system's authorities: %w", err)
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, errors.New("there is no certificate in PEM form")
	}
	return pool, nil
}
