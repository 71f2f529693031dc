package identity_test

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/mail"
	"strings"
	"testing"
	"time"

	"svc.example/internal/test/mailtest"
	"svc.example/internal/work/identity"
)

func sendThrough(t *testing.T, o *mailtest.Server, server string) error {
	t.Helper()
	m, err := identity.NewMail(server, "Renders <renders@svc.example>")
	if err != nil {
		t.Fatal(err)
	}
	m.Roots = o.Roots
	return m.Deliver(t.Context(), "you@example.com", "https://svc.example/v1/auth/callback?token=abc")
}

func TestMessageTravelsUnderTLSAndHoldsTheLink(t *testing.T) {
	t.Parallel()
	for scheme, offers := range map[string]mailtest.Security{"smtp": mailtest.StartTLS, "smtps": mailtest.ImplicitTLS} {
		o := mailtest.Open(t, offers)
		if err := sendThrough(t, o, scheme+"://user:p%40ss%20word@"+o.Address); err != nil {
			t.Fatalf("%s: %v", scheme, err)
		}
		l := <-o.Messages
		if !l.Secured || l.User != "user" || l.From != "renders@svc.example" || l.To != "you@example.com" {
			t.Errorf("%s: %+v", scheme, l)
		}
		message, err := mail.ReadMessage(strings.NewReader(l.Text))
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

func TestMailServerWithoutValidCertificateGetsNoMessage(t *testing.T) {
	t.Parallel()
	for scheme, offers := range map[string]mailtest.Security{"smtp": mailtest.StartTLS, "smtps": mailtest.ImplicitTLS} {
		o := mailtest.Open(t, offers)
		o.Roots = x509.NewCertPool() // trusts no one
		var unknown x509.UnknownAuthorityError
		if err := sendThrough(t, o, scheme+"://"+o.Address); !errors.As(err, &unknown) || len(o.Messages) > 0 {
			t.Errorf("%s: %v", scheme, err)
		}
	}
}

func TestPlainMailStaysOnThisMachine(t *testing.T) {
	t.Parallel()
	o := mailtest.Open(t, mailtest.Plain)
	if err := sendThrough(t, o, "smtp://"+o.Address); err != nil {
		t.Fatal(err)
	}
	if l := <-o.Messages; l.Secured {
		t.Errorf("%+v", l)
	}
	if err := sendThrough(t, o, "smtps://"+o.Address); err == nil {
		t.Error("smtps was content without TLS")
	}
}

func TestRefusedMessageIsAnError(t *testing.T) {
	t.Parallel()
	o := mailtest.Open(t, mailtest.StartTLS)
	o.Refuse <- "451 try again later"
	if err := sendThrough(t, o, "smtp://"+o.Address); err == nil || !strings.Contains(err.Error(), "try again later") {
		t.Errorf("got %v", err)
	}
	if err := sendThrough(t, o, "smtp://user:wrong@"+o.Address); err == nil || strings.Contains(err.Error(), "wrong@") {
		t.Errorf("wrong password: %v", err)
	}
}

func TestSilentMailServerTimesOut(t *testing.T) {
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
		t.Error("a message was sent to no one")
	}
}

// TestAMailServerIsCheckedWithoutAMessage: a good one, one that refuses the password, one that is
// down, and a name that does not resolve.
func TestAMailServerIsCheckedWithoutAMessage(t *testing.T) {
	t.Parallel()
	o := mailtest.Open(t, mailtest.StartTLS)
	down, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := down.Close(); err != nil {
		t.Fatal(err)
	}
	for server, says := range map[string]string{
		"smtp://user:p%40ss%20word@" + o.Address:  "",
		"smtp://user:hunter2@" + o.Address:        "sign in to mail server 127.0.0.1: ",
		"smtp://" + down.Addr().String():          "reach mail server 127.0.0.1: ",
		"smtp://user:hunter2@mail.svc.invalid:25": "reach mail server mail.svc.invalid: ",
	} {
		m, err := identity.NewMail(server, "renders@svc.example")
		if err != nil {
			t.Fatal(err)
		}
		m.Roots = o.Roots
		switch err := m.Check(t.Context()); {
		case says == "" && err != nil:
			t.Errorf("%s: %v", server, err)
		case says != "" && (err == nil || !strings.HasPrefix(err.Error(), says) || strings.Contains(err.Error(), "hunter2")):
			t.Errorf("%s: %v, want it to begin with %q", server, err, says)
		}
	}
	if len(o.Messages) > 0 {
		t.Error("a check sent a message")
	}
}

func TestMailErrorsNameTheServerWithoutItsPassword(t *testing.T) {
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
