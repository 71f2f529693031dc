package identity_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	"net"
	"net/mail"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"svc.example/internal/work/identity"
)

// certificate makes a certificate for this machine, and the pool that trusts it.
func certificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, roots
}

// letter is a mail that the server took.
type letter struct {
	from, to, user string
	secured        bool
	text           []byte
}

// postOffice is an SMTP server that keeps what it takes.
type postOffice struct {
	address string
	roots   *x509.CertPool
	letters chan letter
	refuse  chan error // what the next letters are refused with
}

type offering int

const (
	plain offering = iota
	startTLS
	implicitTLS
)

func openPostOffice(t *testing.T, offers offering) *postOffice {
	t.Helper()
	cert, roots := certificate(t)
	o := &postOffice{roots: roots, letters: make(chan letter, 10), refuse: make(chan error, 10)}
	server := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
		return &visit{office: o, conn: c}, nil
	}))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o.address = listener.Addr().String()
	secure := &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	switch offers {
	case startTLS:
		server.TLSConfig = secure
	case implicitTLS:
		listener = tls.NewListener(listener, secure)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		<-ended
	})
	return o
}

// visit is one conversation.
type visit struct {
	office *postOffice
	conn   *smtp.Conn
	letter letter
}

func (v *visit) AuthMechanisms() []string { return []string{sasl.Plain} }

func (v *visit) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if password != "p@ss word" {
			return smtp.ErrAuthFailed
		}
		v.letter.user = user
		return nil
	}), nil
}

func (v *visit) Mail(from string, _ *smtp.MailOptions) error {
	v.letter.from = from
	return nil
}

func (v *visit) Rcpt(to string, _ *smtp.RcptOptions) error {
	select {
	case err := <-v.office.refuse:
		return err
	default:
	}
	v.letter.to = to
	return nil
}

func (v *visit) Data(r io.Reader) (err error) {
	_, v.letter.secured = v.conn.TLSConnectionState()
	if v.letter.text, err = io.ReadAll(r); err == nil {
		v.office.letters <- v.letter
	}
	return err
}

func (v *visit) Reset()        {}
func (v *visit) Logout() error { return nil }

func sendThrough(t *testing.T, o *postOffice, server string) error {
	t.Helper()
	m, err := identity.NewMail(server, "Renders <renders@svc.example>")
	if err != nil {
		t.Fatal(err)
	}
	m.Roots = o.roots
	return m.Deliver(t.Context(), "you@example.com", "https://svc.example/v1/auth/callback?token=abc")
}

func TestALetterTravelsUnderTLSAndHoldsTheLink(t *testing.T) {
	t.Parallel()
	for scheme, offers := range map[string]offering{"smtp": startTLS, "smtps": implicitTLS} {
		o := openPostOffice(t, offers)
		if err := sendThrough(t, o, scheme+"://user:p%40ss%20word@"+o.address); err != nil {
			t.Fatalf("%s: %v", scheme, err)
		}
		l := <-o.letters
		if !l.secured || l.user != "user" || l.from != "renders@svc.example" || l.to != "you@example.com" {
			t.Errorf("%s: %+v", scheme, l)
		}
		message, err := mail.ReadMessage(bufio.NewReader(bytes.NewReader(l.text)))
		if err != nil {
			t.Fatal(err)
		}
		if to, err := message.Header.AddressList("To"); err != nil || len(to) != 1 || to[0].Address != "you@example.com" {
			t.Errorf("%s: to %v, %v", scheme, to, err)
		}
		if sent, err := message.Header.Date(); err != nil || time.Since(sent) > time.Minute {
			t.Errorf("%s: sent at %v, %v", scheme, sent, err)
		}
		body, err := io.ReadAll(message.Body)
		if err != nil || !strings.Contains(string(body), "\r\nhttps://svc.example/v1/auth/callback?token=abc\r\n") {
			t.Errorf("%s: %s, %v", scheme, body, err)
		}
	}
}

func TestAServerThatCannotProveItselfGetsNoLetter(t *testing.T) {
	t.Parallel()
	for scheme, offers := range map[string]offering{"smtp": startTLS, "smtps": implicitTLS} {
		o := openPostOffice(t, offers)
		o.roots = x509.NewCertPool() // trusts nobody
		var unknown x509.UnknownAuthorityError
		if err := sendThrough(t, o, scheme+"://"+o.address); !errors.As(err, &unknown) || len(o.letters) > 0 {
			t.Errorf("%s: %v", scheme, err)
		}
	}
}

func TestPlainMailStaysOnThisMachine(t *testing.T) {
	t.Parallel()
	o := openPostOffice(t, plain)
	if err := sendThrough(t, o, "smtp://"+o.address); err != nil {
		t.Fatal(err)
	}
	if l := <-o.letters; l.secured {
		t.Errorf("%+v", l)
	}
	if err := sendThrough(t, o, "smtps://"+o.address); err == nil {
		t.Error("smtps was content without TLS")
	}
}

func TestARefusedLetterIsAnError(t *testing.T) {
	t.Parallel()
	o := openPostOffice(t, startTLS)
	o.refuse <- &smtp.SMTPError{Code: 451, Message: "try again later"}
	if err := sendThrough(t, o, "smtp://"+o.address); err == nil || !strings.Contains(err.Error(), "try again later") {
		t.Errorf("got %v", err)
	}
	if err := sendThrough(t, o, "smtp://user:wrong@"+o.address); err == nil || strings.Contains(err.Error(), "wrong@") {
		t.Errorf("wrong password: %v", err)
	}
}

func TestASilentMailServerIsGivenUp(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	m, err := identity.NewMail("smtp://"+listener.Addr().String(), "renders@svc.example")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() { failed <- m.Deliver(ctx, "you@example.com", "https://svc.example") }()
	conn, err := listener.Accept() // and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	cancel()
	if err := <-failed; err == nil {
		t.Error("a letter was sent to nobody")
	}
}

func TestAMailServerIsNamedWholeAndItsPasswordNeverTold(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "mail.example.com", "http://mail.example.com", "smtp://", "smtp://user:hunter2@mail example.com", "smtp://user:hunter2@:587"} {
		if _, err := identity.NewMail(bad, "renders@svc.example"); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if _, err := identity.NewMail("smtp://mail.example.com", "nobody"); err == nil {
		t.Error("a sender without an address was taken")
	}
}
