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
	limit := LimitConnections(1)
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
