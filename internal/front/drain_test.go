package front

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// refusing answers each request with 401 and reads nothing of its body.
func refusing(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/uploads", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	server := httptest.NewServer(newFront(mux, slog.DiscardHandler))
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

// sendAll is a plain client, as Python's urllib: it sends the whole request before it
// reads the answer.
func sendAll(address, header string, body io.Reader) (*http.Response, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "POST /v1/uploads HTTP/1.1\r\nHost: svc\r\n"+header+"\r\n\r\n"); err != nil {
		return nil, err
	}
	if _, err := io.Copy(conn, body); err != nil {
		return nil, fmt.Errorf("while sending: %w", err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	_, err = io.ReadAll(res.Body)
	return res, err
}

func zeros(n int64) io.Reader { return io.LimitReader(zero{}, n) }

type zero struct{}

func (zero) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestARefusalReachesAClientThatSendsItsWholeBodyFirst(t *testing.T) {
	t.Parallel()
	address := refusing(t)
	for _, size := range []int64{1, 64 << 10, 257 << 10, 1 << 20, 12 << 20} {
		t.Run(fmt.Sprint(size, " bytes"), func(t *testing.T) {
			t.Parallel()
			for try := range 3 {
				res, err := sendAll(address, fmt.Sprint("Content-Length: ", size), zeros(size))
				if err != nil || res.StatusCode != http.StatusUnauthorized {
					t.Fatalf("try %d: %+v, %v", try, res, err)
				}
			}
		})
	}
}

// TestARefusalByAHandlerThatClosesTheBodyReachesItsClient: huma closes the body of which
// it has read too much.
func TestARefusalByAHandlerThatClosesTheBodyReachesItsClient(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/uploads", func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.CopyN(io.Discard, r.Body, 1<<20); err != nil {
			t.Error(err)
		}
		if err := r.Body.Close(); err != nil {
			t.Error(err)
		}
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	})
	server := httptest.NewServer(newFront(mux, slog.DiscardHandler))
	t.Cleanup(server.Close)
	for try := range 10 {
		res, err := sendAll(server.Listener.Addr().String(), "Content-Length: 6291456", zeros(6<<20))
		if err != nil || res.StatusCode != http.StatusRequestEntityTooLarge {
			t.Fatalf("try %d: %+v, %v", try, res, err)
		}
	}
}

func TestARefusalOfAChunkedBodyReachesItsClient(t *testing.T) {
	t.Parallel()
	chunk := "100000\r\n" + strings.Repeat("x", 1<<20) + "\r\n"
	res, err := sendAll(refusing(t), "Transfer-Encoding: chunked", strings.NewReader(strings.Repeat(chunk, 4)+"0\r\n\r\n"))
	if err != nil || res.StatusCode != http.StatusUnauthorized {
		t.Fatalf("%+v, %v", res, err)
	}
}

// A caller that keeps sending holds its connection for a bounded time and a bounded
// number of bytes.
func TestADrainEnds(t *testing.T) {
	t.Parallel()
	address := refusing(t)
	t.Run("of an endless body", func(t *testing.T) {
		t.Parallel()
		if _, err := sendAll(address, "Content-Length: 1000000000000", zero{}); err == nil {
			t.Fatal("the service read all of an endless body")
		}
	})
	t.Run("of a body that stalls", func(t *testing.T) {
		t.Parallel()
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, "POST /v1/uploads HTTP/1.1\r\nHost: svc\r\nContent-Length: 10000000\r\n\r\nx"); err != nil {
			t.Fatal(err)
		}
		// A test that fails ends here, not with the whole run.
		if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(conn)
		if err != nil && !errors.Is(err, io.EOF) || !strings.HasPrefix(string(answer), "HTTP/1.1 401 ") {
			t.Fatalf("%q, %v", answer, err)
		}
	})
}
