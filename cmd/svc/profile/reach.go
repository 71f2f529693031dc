package profile

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"svc.example/client"
	"svc.example/internal/work/farmapi"
)

// Unreachable explains why a service at an address cannot be called, and what to do:
// nothing answers, the name does not resolve, TLS fails, or it is not an svc service.
// It returns nil for any other error, such as a refusal of the service.
func Unreachable(server string, err error) error {
	what, do := diagnose(server, err)
	if what == "" {
		return nil
	}
	return errors.New(what + ". " + do)
}

// diagnose says what is wrong and what to do; "" if Unreachable does not know.
func diagnose(server string, err error) (what, do string) {
	at, parseErr := url.Parse(server)
	if parseErr != nil {
		return "", ""
	}
	refused, isRefusal := refusalOf(err)
	if isRefusal && refused.Code != "" {
		return "", ""
	}
	if broken, ok := errors.AsType[*client.UnreadableAnswerError](err); ok {
		return fmt.Sprintf("the answer of %s cannot be read (%v)", server, cut(broken.Unwrap())), "Run the command again; if it lasts, ask whoever runs the network or the proxy between"
	}
	lost, isLost := errors.AsType[*url.Error](err)
	if !isRefusal && !isLost && !errors.Is(err, client.ErrForeignAnswer) {
		return "", ""
	}
	if redirected, ok := errors.AsType[*client.RedirectError](err); ok {
		return redirectText(server, at, redirected)
	}
	if isLost && lost.Timeout() {
		return fmt.Sprintf("nothing answers at %s in time", server), "Check the address (--server) and the network between"
	}
	switch {
	case at.Scheme == "http" && speaksTLS(at, refused, lost):
		return fmt.Sprintf("%s speaks TLS, and http was asked for", server), "Use https" + strings.TrimPrefix(server, "http")
	case isRefusal && refused.Status >= http.StatusBadGateway && refused.Status <= http.StatusGatewayTimeout:
		return fmt.Sprintf("a proxy answers at %s (%d %s) instead of the service behind it", server, refused.Status, http.StatusText(refused.Status)),
			"Try again; if it lasts, tell the service's operator"
	case isRefusal && between[refused.Status] != "":
		return fmt.Sprintf("a proxy or firewall in front of %s refuses the request (%d %s), not the service", server, refused.Status, http.StatusText(refused.Status)), between[refused.Status]
	case isRefusal:
		return fmt.Sprintf("what answers at %s is not svc: it says %d %s, without svc's form of an error", server, refused.Status, http.StatusText(refused.Status)), checkAddress(server)
	case !isLost:
		return fmt.Sprintf("what answers at %s is not svc: its answer is not svc's JSON", server), checkAddress(server)
	}
	return lostConnection(server, at, lost)
}

// redirectText is diagnose for a redirect.
func redirectText(server string, at *url.URL, redirected *client.RedirectError) (what, do string) {
	if redirected.Circle {
		return fmt.Sprintf("the redirects of %s go in a circle", server), checkRedirects
	}
	if to, err := url.Parse(redirected.To); err == nil && at.Scheme == "http" && to.Scheme == "https" && to.Host == at.Host {
		return fmt.Sprintf("%s redirects to https", server), "Use https" + strings.TrimPrefix(server, "http")
	}
	return fmt.Sprintf("%s redirects to %s, which looks like a sign-in page", server, redirected.To),
		"Sign in there with a browser if it is your network's, or check the address (--server)"
}

const checkRedirects = "Check the address (--server) and the redirects of the proxy in front of the service"

// between has the refusals that come from what stands in front of a service, where they are
// not in svc's form, and what to do about each.
var between = map[int]string{
	http.StatusUnauthorized:                  "Ask whoever runs the network or the proxy to let svc through without a password",
	http.StatusForbidden:                     "Ask whoever runs the network or the proxy to let svc through",
	http.StatusProxyAuthRequired:             "Give the proxy's user and password in HTTPS_PROXY",
	http.StatusRequestEntityTooLarge:         "Ask the service's operator to let the proxy pass uploads of 100 MiB, or send a smaller file",
	http.StatusTooManyRequests:               "Wait a minute, then run the command again",
	http.StatusUnavailableForLegalReasons:    "Ask whoever runs the network or the proxy to let svc through",
	http.StatusNetworkAuthenticationRequired: "Sign in to the network with a browser, then run the command again",
}

// refusalOf finds what a server answered: at the API, or at the workers' API.
func refusalOf(err error) (*client.Error, bool) {
	if refused, ok := errors.AsType[*client.Error](err); ok {
		return refused, true
	}
	refused, ok := errors.AsType[*farmapi.Error](err)
	if !ok {
		return nil, false
	}
	return &client.Error{Status: refused.Status, Code: refused.Code}, true
}

// lostConnection is diagnose for an exchange without an answer.
func lostConnection(server string, at *url.URL, lost *url.Error) (what, do string) {
	name, unresolved := errors.AsType[*net.DNSError](lost)
	certificate, untrusted := errors.AsType[*tls.CertificateVerificationError](lost)
	_, noTLS := errors.AsType[tls.RecordHeaderError](lost)
	dial, isDial := errors.AsType[*net.OpError](lost)
	switch {
	case unresolved:
		return fmt.Sprintf("the name %s does not resolve (%s)", at.Hostname(), reason(name)), "Check the address (--server) for a typing error, and this machine's network"
	case untrusted:
		return "TLS fails: " + certificateText(at.Host, certificate.Err),
			"Check the address and this machine's clock; for a certificate authority of your own, set SSL_CERT_FILE to its certificate"
	case (noTLS || errors.Is(lost, http.ErrSchemeMismatch)) && at.Scheme == "http":
		return server + " redirects to https, and nothing there speaks TLS", checkRedirects
	case noTLS || errors.Is(lost, http.ErrSchemeMismatch):
		return server + " does not speak TLS, and https was asked for", "Use http" + strings.TrimPrefix(server, "https") + " if the service is on this machine or a network that you trust"
	case isDial && dial.Op == "dial":
		return fmt.Sprintf("nothing answers at %s (%v)", server, withoutCall(dial.Err)), "Check the address (--server) and whether the service is running"
	case strings.Contains(lost.Error(), "malformed HTTP"):
		return fmt.Sprintf("what answers at %s is not svc: it does not speak HTTP", server), checkAddress(server)
	}
	return fmt.Sprintf("the connection to %s broke off (%v)", server, withoutCall(lost.Err)), "Run the command again"
}

// cut is why an answer cannot be read, without addresses of this machine.
func cut(err error) error {
	if broken, ok := errors.AsType[*net.OpError](err); ok {
		return withoutCall(broken.Err)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it ends early")
	}
	return err
}

// withoutCall is what the operating system says, without the name of its function.
func withoutCall(err error) error {
	if call, ok := errors.AsType[*os.SyscallError](err); ok {
		return call.Err
	}
	return err
}

// reason is why a name does not resolve, without the name.
func reason(err *net.DNSError) string {
	if err.IsNotFound {
		return "there is no such host"
	}
	return err.Err
}

// certificateText says what is wrong with a certificate.
func certificateText(host string, err error) string {
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &unknown):
		return fmt.Sprintf("nobody whom this machine trusts has signed the certificate of %s", host)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return fmt.Sprintf("the certificate of %s has expired, or is not valid yet", host)
	}
	return fmt.Sprintf("the certificate of %s does not verify (%v)", host, err)
}

func checkAddress(server string) string {
	return fmt.Sprintf("Check the address (--server): %s/v1/health answers {\"ok\":true} at a service", server)
}

// probeTime bounds the question whether a port speaks TLS.
const probeTime = 3 * time.Second

// speaksTLS asks a port that did not answer plain HTTP as svc does. Nothing is sent to
// it, so the certificate does not matter here.
func speaksTLS(at *url.URL, refused *client.Error, lost *url.Error) bool {
	if refused != nil && refused.Status != http.StatusBadRequest || refused == nil && lost == nil {
		return false
	}
	if lost != nil && !strings.Contains(lost.Error(), "malformed HTTP") {
		return false
	}
	port := at.Port()
	if port == "" {
		port = "80"
	}
	c, err := tls.DialWithDialer(&net.Dialer{Timeout: probeTime}, "tcp", net.JoinHostPort(at.Hostname(), port), &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}
