package front

import (
	"io"
	"net"
	"net/http"
	"testing"

	"svc.example/internal/test/await"
)

// TestAConnectionBeyondTheLimitWaitsForAPlace opens two connections where one may be
// open: the second is answered only once the first has closed.
func TestAConnectionBeyondTheLimitWaitsForAPlace(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	accepted := make(chan struct{}, 10)
	limit := LimitConnections(1, 0)
	// Not httptest's server: it holds a lock while it calls ConnState.
	server := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), ConnState: func(c net.Conn, s http.ConnState) {
		limit(c, s)
		if s == http.StateNew {
			accepted <- struct{}{}
		}
	}}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	dial := func() net.Conn {
		conn, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	first := dial()
	await.Next(t, accepted, "the first connection")
	second := dial()
	if _, err := io.WriteString(second, "GET / HTTP/1.1\r\nHost: svc\r\nConnection: close\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	answered := make(chan error, 1)
	go func() {
		_, err := io.ReadAll(second)
		answered <- err
	}()
	// The first one is whole, though the second has waited since before it was asked.
	if _, err := io.WriteString(first, "GET / HTTP/1.1\r\nHost: svc\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := first.Read(make([]byte, 1024)); err != nil {
		t.Fatal(err)
	}
	select {
	case <-accepted:
		t.Error("a second connection is open")
	case <-answered:
		t.Error("a second connection is answered")
	default:
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	await.Next(t, accepted, "the second connection")
	if err := await.Next(t, answered, "the answer to the second connection"); err != nil {
		t.Error(err)
	}
}

// strange is a connection from an address.
type strange struct {
	net.Conn
	from   string
	closed bool
}

func (s *strange) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(s.from), Port: 7} }

func (s *strange) Close() error {
	s.closed = true
	return nil
}

func TestOneAddressHasItsShareOfTheConnections(t *testing.T) {
	t.Parallel()
	limit := LimitConnections(100, 2)
	open := func(from string) *strange {
		c := &strange{from: from}
		limit(c, http.StateNew)
		return c
	}
	first, second, third := open("2001:db8::1"), open("2001:db8::2"), open("2001:db8::3")
	if first.closed || second.closed || !third.closed {
		t.Errorf("of three connections of a subnet with a share of two: %v, %v, %v are closed", first.closed, second.closed, third.closed)
	}
	limit(third, http.StateClosed)               // it had no place, and gives none back
	if c := open("2001:db8:0:9::4"); !c.closed { // another subnet of the same site
		t.Error("a refused connection gave a place back")
	}
	if c := open("2001:db8:1::1"); c.closed {
		t.Error("another subnet has no place")
	}
	limit(first, http.StateClosed)
	if c := open("2001:db8::5"); c.closed {
		t.Error("a closed connection still counts")
	}
	for range 10 {
		if c := open("127.0.0.1"); c.closed {
			t.Fatal("a proxy on this machine has a share")
		}
	}
}
