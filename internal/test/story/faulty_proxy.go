package story

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// FaultyProxy is between workers and servers. It loses calls and answers, sends
// calls twice, at once or late, and holds them up.
type FaultyProxy struct {
	URL     string
	servers []string // their addresses
	stopped atomic.Bool
	late    sync.WaitGroup // calls that are sent again later
	ctx     context.Context
	end     context.CancelFunc

	mu   sync.Mutex
	dice *rand.Rand
}

// StartFaultyProxy serves a faulty proxy until the story ends.
func StartFaultyProxy(t *testing.T, servers []string, seed uint64) *FaultyProxy {
	m := &FaultyProxy{servers: servers, dice: rand.New(rand.NewPCG(seed, 2))}
	m.ctx, m.end = context.WithCancel(context.Background())
	proxy := httptest.NewServer(m)
	m.URL = proxy.URL
	t.Cleanup(func() {
		m.end()
		proxy.CloseClientConnections()
		proxy.Close()
		m.late.Wait()
	})
	return m
}

// Stop ends the faults: calls go through as they are.
func (m *FaultyProxy) Stop() { m.stopped.Store(true) }

func (m *FaultyProxy) roll(n int) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.dice.IntN(n)
}

// What is done to a call, of twenty.
const (
	loseCall = iota
	loseAnswer
	twice
	twiceLate
	holdUp
	ways = 20
)

func (m *FaultyProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	way := ways
	if !m.stopped.Load() {
		way = m.roll(ways)
	}
	switch way {
	case loseCall:
		panic(http.ErrAbortHandler)
	case twice:
		m.discard(m.send(r.Context(), r, body))
	case twiceLate:
		m.late.Go(func() {
			m.pause(m.ctx, 1500)
			m.discard(m.send(m.ctx, r, body))
		})
	case holdUp:
		m.pause(r.Context(), 300)
	}
	answer, err := m.send(r.Context(), r, body)
	if err != nil || way == loseAnswer {
		m.discard(answer, err)
		panic(http.ErrAbortHandler)
	}
	defer func() { _ = answer.Body.Close() }()
	for name, values := range answer.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.StatusCode)
	_, _ = io.Copy(w, answer.Body) // a broken answer is a fault too
}

// pause waits up to so many milliseconds.
func (m *FaultyProxy) pause(ctx context.Context, most int) {
	timer := time.NewTimer(time.Duration(m.roll(most)) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// send passes a call on to any of the servers.
func (m *FaultyProxy) send(ctx context.Context, r *http.Request, body []byte) (*http.Response, error) {
	call, err := http.NewRequestWithContext(ctx, r.Method, "http://"+m.servers[m.roll(len(m.servers))]+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	call.Header = r.Header.Clone()
	return http.DefaultTransport.RoundTrip(call)
}

func (m *FaultyProxy) discard(answer *http.Response, err error) {
	if err == nil {
		_, _ = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
	}
}
