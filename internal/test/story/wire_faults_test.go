package story_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// wireFault is what is done to one call on its way: it may pass the call on, or not.
type wireFault func(w http.ResponseWriter, r *http.Request, pass http.Handler)

// badWire is a proxy in front of a service whose calls meet faults in a set order: the nth
// fault of a rule is that of the nth call that the rule matches.
type badWire struct {
	url  string
	pass http.Handler

	mu    sync.Mutex
	rules []wireRule
	calls []*http.Request
}

type wireRule struct {
	method, path string // a part of the call's path
	faults       []wireFault
}

func startBadWire(t *testing.T, service string, rules ...wireRule) *badWire {
	t.Helper()
	target, err := url.Parse(service)
	if err != nil {
		t.Fatal(err)
	}
	wire := &badWire{rules: rules}
	wire.pass = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ModifyResponse: func(r *http.Response) error { // signed links lead through the proxy as well
			if !strings.Contains(r.Header.Get("Content-Type"), "json") {
				return nil
			}
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return err
			}
			body = bytes.ReplaceAll(body, []byte(service), []byte(wire.url))
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			r.Header.Del("Content-Length")
			return nil
		},
		FlushInterval: -1,
	}
	server := httptest.NewServer(wire)
	wire.url = server.URL
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return wire
}

func (b *badWire) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	b.calls = append(b.calls, r.Clone(r.Context()))
	var fault wireFault
	for i := range b.rules {
		rule := &b.rules[i]
		if rule.method == r.Method && strings.Contains(r.URL.Path, rule.path) && len(rule.faults) > 0 {
			fault, rule.faults = rule.faults[0], rule.faults[1:]
			break
		}
	}
	b.mu.Unlock()
	if fault == nil {
		b.pass.ServeHTTP(w, r)
		return
	}
	fault(w, r, b.pass)
}

// to lists the calls of a method to paths with that part, in order.
func (b *badWire) to(method, path string) (found []*http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.calls {
		if r.Method == method && strings.Contains(r.URL.Path, path) {
			found = append(found, r)
		}
	}
	return found
}

// unmet are the faults that no call has met.
func (b *badWire) unmet() (rules []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, rule := range b.rules {
		if len(rule.faults) > 0 {
			rules = append(rules, rule.method+" "+rule.path)
		}
	}
	return rules
}

// cutUpload reads some bytes of the call and closes the connection.
func cutUpload(after int64) wireFault {
	return func(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
		_, _ = io.CopyN(io.Discard, r.Body, after)
		panic(http.ErrAbortHandler)
	}
}

// loseTheAnswer lets the call take effect and closes the connection before its answer.
func loseTheAnswer(_ http.ResponseWriter, r *http.Request, pass http.Handler) {
	pass.ServeHTTP(httptest.NewRecorder(), r)
	panic(http.ErrAbortHandler)
}

// answerWith refuses as a proxy does, without the service's form.
func answerWith(status int, retryAfter string) wireFault {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		_, _ = io.Copy(io.Discard, r.Body)
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "<html>busy</html>")
	}
}

// cutAnswer lets so many bytes of the answer through.
func cutAnswer(after int) wireFault {
	return func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
		pass.ServeHTTP(&shortWriter{ResponseWriter: w, left: after}, r)
	}
}

// stallAnswer lets so many bytes of the answer through, and then nothing until the caller
// gives up.
func stallAnswer(after int) wireFault {
	return func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
		pass.ServeHTTP(&shortWriter{ResponseWriter: w, left: after, stall: r.Context().Done()}, r)
	}
}

type shortWriter struct {
	http.ResponseWriter
	left  int
	stall <-chan struct{} // is waited for before the end; nil = the end comes at once
}

func (s *shortWriter) Write(p []byte) (int, error) {
	n, _ := s.ResponseWriter.Write(p[:min(len(p), s.left)])
	if s.left -= n; s.left == 0 {
		_ = http.NewResponseController(s.ResponseWriter).Flush()
		if s.stall != nil {
			<-s.stall
		}
		panic(http.ErrAbortHandler)
	}
	return len(p), nil
}

// Unwrap lets the proxy flush.
func (s *shortWriter) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// fromTheBeginning repeats every event that the caller has had: a stream that forgets where
// its reader was.
func fromTheBeginning(w http.ResponseWriter, r *http.Request, pass http.Handler) {
	r.Header.Del("Last-Event-ID")
	pass.ServeHTTP(w, r)
}

// damageAnswer changes one byte on its way.
func damageAnswer(w http.ResponseWriter, r *http.Request, pass http.Handler) {
	pass.ServeHTTP(&damagingWriter{ResponseWriter: w}, r)
}

type damagingWriter struct {
	http.ResponseWriter
	done bool
}

func (d *damagingWriter) Write(p []byte) (int, error) {
	if !d.done && len(p) > 0 {
		p = bytes.Clone(p)
		p[len(p)/2] ^= 1
		d.done = true
	}
	return d.ResponseWriter.Write(p)
}

// Unwrap lets the proxy flush.
func (d *damagingWriter) Unwrap() http.ResponseWriter { return d.ResponseWriter }
