package requests

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"time"
)

// request is what a caller sends, repeatedly.
type request struct{ method, path, key, body, kind string }

// bytes are the request as it goes over the wire.
func (r request) bytes() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: bench\r\n", r.method, r.path)
	if r.key != "" {
		fmt.Fprintf(&b, "Authorization: Bearer %s\r\n", r.key)
	}
	if r.body != "" {
		fmt.Fprintf(&b, "Content-Type: %s\r\n", cmp.Or(r.kind, "application/json"))
	}
	if r.body != "" || r.method == http.MethodPost {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(r.body))
	}
	fmt.Fprintf(&b, "\r\n%s", r.body)
	return b.Bytes()
}

// line is one connection of a minimal client. It shares the processors with the service
// that it measures, so it must cost as little as possible.
type line struct {
	conn net.Conn
	in   *bufio.Reader
}

func dial(ctx context.Context, address string) (*line, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return &line{conn, bufio.NewReaderSize(conn, 16<<10)}, nil
}

func (l *line) close() { _ = l.conn.Close() }

// ask sends a request and reads its answer. Any answer but a 200 is an error: a refusal
// is faster than the work that is to be measured.
func (l *line) ask(sent []byte) (http.Header, []byte, error) {
	if _, err := l.conn.Write(sent); err != nil {
		return nil, nil, err
	}
	res, err := http.ReadResponse(l.in, nil)
	if err != nil {
		return nil, nil, err
	}
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		first, _, _ := bytes.Cut(sent, []byte("\r\n"))
		err = fmt.Errorf("%s: %s: %s", first, res.Status, text)
	}
	return res.Header, text, err
}

// copyAnswer asks the service once and serves its answer, headers included, from a
// handler that does nothing else. The caller closes it.
func copyAnswer(ctx context.Context, address string, ask request) (*httptest.Server, error) {
	l, err := dial(ctx, address)
	if err != nil {
		return nil, err
	}
	defer l.close()
	header, text, err := l.ask(ask.bytes())
	if err != nil {
		return nil, err
	}
	header.Del("Date") // net/http writes these itself
	header.Del("Content-Length")
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		maps.Copy(w.Header(), header)
		_, _ = w.Write(text)
	})), nil
}

// flow is the result of a number of requests.
type flow struct {
	rate float64 // requests per second
	p99  float64 // seconds that 99 of 100 requests did not exceed
}

// askMany makes the callers send n requests altogether, the same number each over a
// connection of its own.
func askMany(ctx context.Context, address string, callers []apiCaller, n int, ask func(apiCaller) request) (flow, error) {
	each := n / len(callers)
	took := make([][]float64, len(callers))
	errs := make([]error, len(callers))
	var all sync.WaitGroup
	began := time.Now()
	for i, c := range callers {
		all.Go(func() {
			l, err := dial(ctx, address)
			if err != nil {
				errs[i] = err
				return
			}
			defer l.close()
			for range each {
				sent := ask(c).bytes()
				at := time.Now()
				if _, _, errs[i] = l.ask(sent); errs[i] != nil {
					return
				}
				took[i] = append(took[i], time.Since(at).Seconds())
			}
		})
	}
	all.Wait()
	seconds := time.Since(began).Seconds()
	sorted := slices.Sorted(slices.Values(slices.Concat(took...)))
	if err := errors.Join(errs...); err != nil {
		return flow{}, err
	}
	return flow{rate: float64(len(sorted)) / seconds, p99: sorted[len(sorted)*99/100]}, nil
}
