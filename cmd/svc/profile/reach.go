package profile

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"svc.example/client"
)

// Unreachable says in words why a service at an address cannot be called, and what to
// do: nothing answers, the name does not resolve, TLS fails, or it is no svc. It
// returns nil for any other error, such as a refusal of the service.
func Unreachable(server string, err error) error {
	at, parseErr := url.Parse(server)
	if parseErr != nil {
		return nil
	}
	refused, isRefusal := errors.AsType[*client.Error](err)
	if isRefusal && refused.Code != "" {
		return nil
	}
	lost, isLost := errors.AsType[*url.Error](err)
	if !isRefusal && !isLost && !errors.Is(err, client.ErrForeignAnswer) {
		return nil
	}
	if isLost && lost.Timeout() {
		return fmt.Errorf("nothing answers at %s in time. Check the address (--server) and the network between", server)
	}
	switch {
	case at.Scheme == "http" && speaksTLS(at, refused, lost):
		return fmt.Errorf("%s speaks TLS, and http was asked for. Use https%s", server, strings.TrimPrefix(server, "http"))
	case isRefusal && refused.Status >= http.StatusBadGateway && refused.Status <= http.StatusGatewayTimeout:
		return fmt.Errorf("a proxy answers at %s (%d %s), and not the service behind it. Try again; if it lasts, tell the service's operator",
			server, refused.Status, http.StatusText(refused.Status))
	case isRefusal:
		return fmt.Errorf("what answers at %s is no svc: it says %d %s, without svc's form of an error. %s", server, refused.Status, http.StatusText(refused.Status), checkAddress(server))
	case !isLost:
		return fmt.Errorf("what answers at %s is no svc: its answer is not svc's JSON. %s", server, checkAddress(server))
	}
	return lostConnection(server, at, lost)
}

// lostConnection is Unreachable for an exchange without an answer.
func lostConnection(server string, at *url.URL, lost *url.Error) error {
	name, unresolved := errors.AsType[*net.DNSError](lost)
	certificate, untrusted := errors.AsType[*tls.CertificateVerificationError](lost)
	_, noTLS := errors.AsType[tls.RecordHeaderError](lost)
	dial, isDial := errors.AsType[*net.OpError](lost)
	switch {
	case unresolved:
		return fmt.Errorf("the name %s does not resolve (%s). Check the address (--server) for a typing error, and this machine's network", at.Hostname(), reason(name))
	case untrusted:
		return fmt.Errorf("TLS fails: %s. %s", certificateText(at.Host, certificate.Err),
			"Check the address and this machine's clock; for a certificate authority of your own, set SSL_CERT_FILE to its certificate")
	case noTLS || strings.Contains(lost.Error(), "server gave HTTP response to HTTPS client"):
		return fmt.Errorf("%s does not speak TLS, and https was asked for. Use http%s if the service is on this machine or a network that you trust", server, strings.TrimPrefix(server, "https"))
	case isDial && dial.Op == "dial":
		return fmt.Errorf("nothing answers at %s (%w). Check the address (--server) and whether the service is running", server, dial.Err)
	}
	return fmt.Errorf("the connection to %s broke off (%w). Run the command again", server, lost.Err)
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
