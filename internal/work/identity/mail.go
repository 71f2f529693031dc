package identity

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/smtp"
	"net/url"
	"strings"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/plaintext"
)

// Mail sends messages through an SMTP server. Without TLS it talks only to a server on
// this machine, because a message carries a link that signs in. It opens a connection
// for each message and is safe for concurrent use.
type Mail struct {
	host, port string
	implicit   bool // TLS from the first byte instead of STARTTLS
	auth       smtp.Auth
	from       mail.Address
	// Roots are the authorities that may sign the server's certificate; nil means the
	// system's.
	Roots *x509.CertPool
	// Now dates the messages.
	Now func() time.Time
}

// mailTimeout bounds one message, from dialling to the server's acceptance. A silent
// server then costs one of the few senders half a minute, and the waiting person gets
// another attempt.
const mailTimeout = 30 * time.Second

// NewMail reads the server from smtp://[user:password@]host[:587], which must offer
// STARTTLS, or smtps://…[:465]. from is the sender's address, with or without a name.
// It opens no connection: a mail server that is down does not stop the service.
func NewMail(server, from string) (*Mail, error) {
	u, err := url.Parse(server)
	if err != nil || (u.Scheme != "smtp" && u.Scheme != "smtps") || u.Hostname() == "" {
		return nil, errors.New("the mail server must be smtp://host:port or smtps://host:port") // not err: it contains the password
	}
	sender, err := mail.ParseAddress(from)
	if err != nil {
		return nil, fmt.Errorf("the sender of mail %q is no address: %w", from, err)
	}
	m := &Mail{host: u.Hostname(), port: u.Port(), implicit: u.Scheme == "smtps", from: *sender, Now: time.Now}
	if m.port == "" && m.implicit {
		m.port = "465"
	} else if m.port == "" {
		m.port = "587"
	}
	if u.User != nil {
		password, _ := u.User.Password()
		m.auth = smtp.PlainAuth("", u.User.Username(), password, m.host)
	}
	return m, nil
}

// Deliver sends a one-time link. It returns after the server has accepted the message.
// An error means that the server probably has not got it; it may have.
func (m *Mail) Deliver(ctx context.Context, email, link string) error {
	return m.Send(ctx, email, "Sign in to "+contract.Service, fmt.Sprintf(
		"Open this link to sign in. It works once, for %d minutes:\n\n%s\n\nIf you did not ask for it, ignore this message: nobody gets in without the link.\n",
		int(contract.SignInLinkLife.Minutes()), link))
}

// Send sends a plain text. It returns after the server has accepted it. Lines of text
// must be short, because mail readers differ in wrapping. Errors name the server, never
// its password. to must be an address that address has accepted, and subject constant
// text: both become headers as they are.
func (m *Mail) Send(ctx context.Context, to, subject, text string) error {
	return m.hand(ctx, to, m.message(to, subject, text))
}

// hand hands a message to the server.
func (m *Mail) hand(ctx context.Context, to string, message []byte) error {
	return m.session(ctx, func(c *smtp.Client) error {
		if err := m.transmit(c, to, message); err != nil {
			return fmt.Errorf("hand a message to mail server %s: %w", m.host, err)
		}
		return nil
	})
}

// Check signs in to the server and sends nothing. An error says why no message would arrive.
func (m *Mail) Check(ctx context.Context) error {
	return m.session(ctx, func(c *smtp.Client) error {
		_ = c.Quit() // it would take a message
		return nil
	})
}

// session signs in to the server, and ends after do.
func (m *Mail) session(ctx context.Context, do func(c *smtp.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, mailTimeout)
	defer cancel()
	c, err := m.connect(ctx)
	if err != nil {
		return fmt.Errorf("reach mail server %s: %w", m.host, err)
	}
	defer func() { _ = c.Close() }()
	if m.auth != nil {
		if err := c.Auth(m.auth); err != nil {
			return fmt.Errorf("sign in to mail server %s: %w", m.host, err)
		}
	}
	return do(c)
}

// connect opens an SMTP session under TLS. The end of ctx breaks it at any point. A
// local server without STARTTLS is accepted: its traffic stays on this machine.
func (m *Mail) connect(ctx context.Context) (*smtp.Client, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(m.host, m.port))
	if err != nil {
		return nil, err
	}
	local := conn.RemoteAddr().(*net.TCPAddr).IP.IsLoopback()
	raw := conn
	context.AfterFunc(ctx, func() { _ = raw.SetDeadline(time.Unix(1, 0)) }) // net/smtp knows no context
	secure := &tls.Config{ServerName: m.host, RootCAs: m.Roots, MinVersion: tls.VersionTLS12}
	if m.implicit {
		conn = tls.Client(conn, secure)
	}
	c, err := smtp.NewClient(conn, m.host)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	if m.implicit {
		return c, nil
	}
	if offered, _ := c.Extension("STARTTLS"); offered {
		err = c.StartTLS(secure)
	} else if !local {
		err = errors.New("it offers no STARTTLS, and is not on this machine")
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// transmit hands one message to the server.
func (m *Mail) transmit(c *smtp.Client, to string, message []byte) error {
	if err := c.Mail(m.from.Address); err != nil {
		return err
	}
	if err := c.Rcpt(to); err != nil {
		return err
	}
	w, err := c.Data()
	if err != nil {
		return err
	}
	if _, err := w.Write(message); err != nil {
		return err
	}
	if err := w.Close(); err != nil { // the server accepts here
		return err
	}
	_ = c.Quit() // the server has the message already
	return nil
}

// message adds the headers to a text. It never fails, because nothing in a header comes
// from a stranger unchecked.
func (m *Mail) message(to, subject, text string) []byte {
	head := m.headers(to, subject, [2]string{"Content-Type", "text/plain; charset=utf-8"})
	return append(head, strings.ReplaceAll(plaintext.Lines(text), "\n", "\r\n")...)
}

// headers writes the headers of a message, to the empty line at their end.
func (m *Mail) headers(to, subject string, more ...[2]string) []byte {
	var b bytes.Buffer
	for _, header := range append([][2]string{
		{"From", m.from.String()},
		{"To", (&mail.Address{Address: to}).String()},
		{"Subject", subject},
		{"Date", m.Now().UTC().Format(time.RFC1123Z)},
		{"MIME-Version", "1.0"},
		{"Auto-Submitted", "auto-generated"}, // prevents out-of-office answers
	}, more...) {
		fmt.Fprintf(&b, "%s: %s\r\n", header[0], header[1])
	}
	b.WriteString("\r\n")
	return b.Bytes()
}
