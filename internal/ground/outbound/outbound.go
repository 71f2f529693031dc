// Package outbound calls addresses that untrusted callers name: webhook targets,
// and files that an agent's tool fetches.
//
// What always holds: the address is https with no user info, on port 443 or above
// 1023. Every connection goes to a public address, which is checked on the socket
// itself, after all name resolution, so that a name cannot resolve differently in
// between. No proxy of the environment is used. No redirect is followed: a 3xx is
// an answer like any other. The server's certificate is verified. The headers and
// the body of the answer, and the time for all of it, are bounded.
//
// Check, when an address is configured, and Client, when it is called, apply this
// one rule. Both report what they refuse as a *Refused, in words for the caller.
//
// Which ranges are public is left to code.dny.dev/ssrf (IANA's special-purpose
// registries); azureHost adds what those do not list. An operator whose network
// reaches private IPv4 addresses through a NAT64 prefix of its own must have that
// gateway refuse them (RFC 6052 3.1): no prefix tells such an address from a public
// one.
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

// Refused says why an address is not called. The caller that gave the address may
// read the reason: it reveals nothing about the network here.
type Refused struct{ Reason string }

func (r *Refused) Error() string { return r.Reason }

func refuse(reason string) error { return &Refused{reason} }

// ErrTooLarge reports that an answer's body is larger than Limits.Body.
var ErrTooLarge = errors.New("the answer is too large")

// ErrLookup reports that a host name could not be looked up now: nobody knows whether it
// has an address.
var ErrLookup = errors.New("the host name could not be looked up")

// Config is what an operator or a test may change of the rule. The zero Config is
// the rule as published.
type Config struct {
	// Allow opens ranges that are not public, at the operator's own risk: callers
	// can then reach every service there.
	Allow []netip.Prefix
	// Roots are the authorities that certificates are checked against; nil = the
	// system's.
	Roots *x509.CertPool
	// Resolver looks names up; nil = the system's.
	Resolver *net.Resolver
}

// Guard is the rule. It never changes and is safe for concurrent use.
type Guard struct {
	cfg       Config
	addresses *ssrf.Guardian
}

// azureHost is where a virtual machine on Azure reaches its host. The registries
// list it as public, but it serves the machine's own secrets.
const azureHost = "168.63.129.16/32"

// New makes a guard. It does no input or output.
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

// Check checks an address when it is configured: its form, and every address that
// its host resolves to at this moment. One private address among several is enough
// to refuse, since a connection could choose it. Check opens no connection. Errors:
// a *Refused, ErrLookup, or the context's error.
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
	if failed, ok := errors.AsType[*net.DNSError](err); ok && !failed.IsNotFound {
		return fmt.Errorf("%w: %w", ErrLookup, err)
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

// form checks what can be checked before any name is resolved. What resolvers and
// URL parsers read differently is refused here, so that both halves of the rule see
// one host.
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
		return refuse("its host is an IPv4 address written as IPv6")
	}
	if err != nil && endsInNumber(host) {
		return refuse("its host is neither a name nor an address in four decimal parts")
	}
	return nil
}

// endsInNumber is true of what some resolvers read as an IPv4 address in an old
// form: 2130706433, 0x7f.1, 0177.0.0.1, 127.1, 127.0.0.1. and the like. No
// top-level domain is a number.
func endsInNumber(host string) bool {
	host = strings.TrimSuffix(host, ".")
	last := strings.ToLower(host[strings.LastIndex(host, ".")+1:])
	if strings.Trim(last, "0123456789") == "" {
		return true
	}
	hex, is := strings.CutPrefix(last, "0x")
	return is && strings.Trim(hex, "0123456789abcdef") == ""
}

// portAllowed takes "" for the scheme's own port. Ports below 1024 other than 443
// belong to services that were never meant to be reached so, such as mail.
func portAllowed(port string) bool {
	if port == "" {
		return true
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && (n == 443 || n > 1023)
}

// public refuses an address that is not one of the internet. Resolvers may return
// an IPv4 address mapped into IPv6; the socket connects to the IPv4 address, so
// that is what is checked.
func (g *Guard) public(ip netip.Addr) error {
	if g.addresses.SafeAddr(ip.Unmap()) != nil {
		return refuse("its host is not a public address")
	}
	return nil
}

// atSocket checks the address that the socket is about to connect to. Only this
// check cannot be evaded by a name that resolves differently from one look-up to
// the next.
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
	idlePerHost     = 8    // as many as a webhook delivery queue has calls open: fewer cost a handshake each
	idleInAll       = 1000 // of a hundred busy receivers, each with its lane
)

// Client returns a client that applies the rule to every call. It is safe for
// concurrent use and keeps idle connections; CloseIdleConnections drops them.
// Bodies arrive as they were sent: compressed ones stay compressed. Errors of a
// call wrap a *Refused, ErrTooLarge or what the network says.
func (g *Guard) Client(l Limits) *http.Client {
	// Control runs on each socket after resolution and before the connection.
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

// guarded checks a request's address before it goes out, and bounds the answer.
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

// CloseIdleConnections is what http.Client looks for on a transport to close its
// idle connections; without it the wrapped transport's would stay open.
func (g *guarded) CloseIdleConnections() {
	if c, ok := g.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// bounded is a body that fails with ErrTooLarge once more than left bytes have
// come. An io.LimitReader would make a cut answer look whole.
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

// Roots returns the system's authorities and those of a PEM file, for Config.Roots.
// It fails when the file holds no certificate.
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
