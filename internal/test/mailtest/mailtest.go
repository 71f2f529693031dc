// Package mailtest gives tests a mail server on this machine.
//
// The server takes messages by SMTP (RFC 5321) and hands them to the test. It
// implements what the service needs: EHLO, STARTTLS, AUTH PLAIN and one recipient
// for each message. It ends with the test. Start reading at Open.
package mailtest

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Password is the one that the server accepts, with any user.
const Password = "p@ss word"

// Security says when a connection is under TLS.
type Security int

// The kinds of server.
const (
	Plain       Security = iota // never
	StartTLS                    // once the client asks for it
	ImplicitTLS                 // from the first byte
)

// Message is what one client delivered.
type Message struct {
	From, To string // the envelope's addresses
	User     string // the authenticated user; "" = none
	Secured  bool   // under TLS
	Text     string // headers and body, lines end in CRLF
}

// Server is a running mail server.
type Server struct {
	// Address is host:port.
	Address string
	// Roots trust the server's certificate.
	Roots *x509.CertPool
	// Messages are those that the server took. It keeps 10 and drops more.
	Messages <-chan Message
	// Refuse holds replies, such as "451 try again later"; each refuses the
	// next recipient.
	Refuse chan<- string

	messages chan Message
	refuse   chan string
	security Security
	tls      *tls.Config
}

// Open starts a server that runs until the test ends.
func Open(t testing.TB, security Security) *Server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	certificate, roots := identity()
	s := &Server{
		Address: listener.Addr().String(), Roots: roots, security: security,
		messages: make(chan Message, 10), refuse: make(chan string, 10),
		tls: &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12},
	}
	s.Messages, s.Refuse = s.messages, s.refuse
	if security == ImplicitTLS {
		listener = tls.NewListener(listener, s.tls)
	}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			context.AfterFunc(t.Context(), func() { _ = conn.Close() })
			running.Go(func() { s.serve(conn) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		running.Wait()
	})
	return s
}

// identity returns a certificate for 127.0.0.1, and the pool that trusts it. It
// takes httptest's, which is made for tests.
func identity() (tls.Certificate, *x509.CertPool) {
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	return server.TLS.Certificates[0], roots
}

// session is one connection and the message that it is about to deliver.
type session struct {
	*Server
	conn    net.Conn
	in      *bufio.Reader
	message Message
}

func (s *Server) serve(conn net.Conn) {
	_, secured := conn.(*tls.Conn)
	v := &session{Server: s, conn: conn, in: bufio.NewReader(conn), message: Message{Secured: secured}}
	defer func() { _ = v.conn.Close() }()
	err := v.reply("220 mailtest ESMTP")
	for err == nil {
		var line string
		if line, err = v.line(); err == nil {
			err = v.command(line)
		}
	}
}

func (v *session) reply(lines ...string) error {
	_, err := io.WriteString(v.conn, strings.Join(lines, "\r\n")+"\r\n")
	return err
}

// line reads one line, which must end in CRLF, without its end.
func (v *session) line() (string, error) {
	line, err := v.in.ReadString('\n')
	if err != nil {
		return "", err
	}
	line, whole := strings.CutSuffix(line, "\r\n")
	if !whole {
		return "", errors.New("a line does not end in CRLF")
	}
	return line, nil
}

func (v *session) command(line string) error {
	verb, rest, _ := strings.Cut(line, " ")
	switch strings.ToUpper(verb) {
	case "EHLO":
		if v.security == StartTLS && !v.message.Secured {
			return v.reply("250-mailtest", "250-AUTH PLAIN", "250 STARTTLS")
		}
		return v.reply("250-mailtest", "250 AUTH PLAIN")
	case "STARTTLS":
		if err := v.reply("220 ready"); err != nil {
			return err
		}
		v.conn = tls.Server(v.conn, v.tls)
		v.in, v.message = bufio.NewReader(v.conn), Message{Secured: true}
		return nil
	case "AUTH":
		return v.authenticate(rest)
	case "MAIL":
		v.message.From = path(rest)
		return v.reply("250 sender taken")
	case "RCPT":
		select {
		case refusal := <-v.refuse:
			return v.reply(refusal)
		default:
		}
		v.message.To = path(rest)
		return v.reply("250 recipient taken")
	case "DATA":
		return v.data()
	case "QUIT":
		return errors.Join(v.reply("221 bye"), io.EOF)
	}
	return v.reply(fmt.Sprintf("502 no command %q", verb))
}

// authenticate answers AUTH PLAIN (RFC 4616).
func (v *session) authenticate(rest string) error {
	sent, plain := strings.CutPrefix(rest, "PLAIN ")
	text, err := base64.StdEncoding.DecodeString(sent)
	parts := strings.Split(string(text), "\x00")
	if !plain || err != nil || len(parts) != 3 || parts[2] != Password {
		return v.reply("535 wrong user or password")
	}
	v.message.User = parts[1]
	return v.reply("235 welcome")
}

// data reads the message up to the line of one dot.
func (v *session) data() error {
	if err := v.reply("354 send the message"); err != nil {
		return err
	}
	var text strings.Builder
	for {
		line, err := v.line()
		if err != nil {
			return err
		}
		if line == "." {
			break
		}
		text.WriteString(strings.TrimPrefix(line, ".") + "\r\n")
	}
	v.message.Text = text.String()
	select {
	case v.messages <- v.message:
	default:
	}
	return v.reply("250 message taken")
}

// path is the address in FROM:<address> or TO:<address>, whatever follows.
func path(s string) string {
	_, s, _ = strings.Cut(s, "<")
	s, _, _ = strings.Cut(s, ">")
	return s
}
