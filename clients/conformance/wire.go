package conformance

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Rule says what happens to the calls of one method to paths with a part. The nth fault
// meets the nth such call; what comes after the last passes.
type Rule struct {
	On     string   `json:"on"`     // "POST /start"
	Faults []string `json:"faults"` // names of the table faults, with numbers after colons
	Always bool     `json:"always"` // the last fault meets every later call too
	// Repeats names a header that the call after a fault must repeat.
	Repeats string `json:"repeats"`
	// Needs names a header that the call after a fault must have.
	Needs string `json:"needs"`

	met       int
	last      http.Header // of the call that met a fault last
	notBefore time.Time   // when a caller that was asked to wait may come back
}

// Wire is a proxy in front of a service, on which things go wrong. It also notes what no
// client may ever do.
type Wire struct {
	URL    string
	server *httptest.Server
	pass   http.Handler

	mu         sync.Mutex
	rules      []*Rule
	calls      []*http.Request
	complaints []string
}

// NewWire starts a proxy in front of the service at an address. Close ends it.
func NewWire(service string, rules ...Rule) (*Wire, error) {
	target, err := url.Parse(service)
	if err != nil {
		return nil, fmt.Errorf("the service's address: %w", err)
	}
	w := &Wire{}
	for _, rule := range rules {
		for _, name := range rule.Faults {
			if _, err := faultOf(name); err != nil {
				return nil, err
			}
		}
		w.rules = append(w.rules, &rule)
	}
	w.pass = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ModifyResponse: func(r *http.Response) error { // signed links lead through the proxy as well
			if !strings.Contains(r.Header.Get("Content-Type"), "json") {
				return nil
			}
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return err
			}
			body = bytes.ReplaceAll(body, []byte(service), []byte(w.URL))
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			r.Header.Del("Content-Length")
			return nil
		},
		FlushInterval: -1,
	}
	w.server = httptest.NewServer(w)
	w.URL = w.server.URL
	return w, nil
}

// Close ends the proxy and its connections.
func (b *Wire) Close() {
	b.server.CloseClientConnections()
	b.server.Close()
}

// ServeHTTP passes a call on, or does to it what a rule says.
func (b *Wire) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	fault := b.meet(r)
	if fault == nil {
		b.pass.ServeHTTP(w, r)
		return
	}
	fault(w, r, b.pass)
}

// meet notes a call and returns its fault; nil for none.
func (b *Wire) meet(r *http.Request) fault {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls = append(b.calls, r.Clone(r.Context()))
	if r.Header.Get("Authorization") != "" && (strings.Contains(r.URL.Path, "/artifacts/") || strings.Contains(r.URL.Path, "/v1/previews/")) {
		b.complain("the key was sent to a signed link")
	}
	if r.Header.Get("User-Agent") == "" {
		b.complain("a call does not say who makes it (User-Agent)")
	}
	for _, rule := range b.rules {
		method, path, _ := strings.Cut(rule.On, " ")
		if method != r.Method || !strings.Contains(r.URL.Path, path) {
			continue
		}
		b.judge(rule, r)
		i := rule.met
		if rule.Always {
			i = min(i, len(rule.Faults)-1)
		}
		if i >= len(rule.Faults) {
			rule.last = nil
			return nil
		}
		rule.met++
		rule.last, rule.notBefore = r.Header.Clone(), time.Time{}
		if wait := waitOf(rule.Faults[i]); wait > 0 {
			rule.notBefore = time.Now().Add(wait)
		}
		fault, _ := faultOf(rule.Faults[i]) // NewWire has seen that it exists
		return fault
	}
	return nil
}

// judge compares a call with what the previous fault asked for.
func (b *Wire) judge(rule *Rule, r *http.Request) {
	if rule.last == nil {
		return
	}
	if name := rule.Repeats; name != "" && (r.Header.Get(name) == "" || r.Header.Get(name) != rule.last.Get(name)) {
		b.complain("%s: the call after a fault does not repeat %s", rule.On, name)
	}
	if name := rule.Needs; name != "" && rule.met == len(rule.Faults) && r.Header.Get(name) == "" {
		b.complain("%s: the call after the last fault has no %s: it starts over", rule.On, name)
	}
	if early := time.Until(rule.notBefore); early > 0 {
		b.complain("%s: it came %v before it was told to (Retry-After)", rule.On, early)
	}
}

func (b *Wire) complain(format string, values ...any) {
	b.complaints = append(b.complaints, fmt.Sprintf(format, values...))
}

// Calls lists the calls of a method to paths with that part, in order.
func (b *Wire) Calls(method, path string) (found []*http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.calls {
		if r.Method == method && strings.Contains(r.URL.Path, path) {
			found = append(found, r)
		}
	}
	return found
}

// Complaints are the forbidden things that the client did, and the faults that it did not
// meet.
func (b *Wire) Complaints() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := append([]string(nil), b.complaints...)
	for _, rule := range b.rules {
		if rule.met < len(rule.Faults) {
			all = append(all, fmt.Sprintf("%s: no call met %v", rule.On, rule.Faults[rule.met:]))
		}
	}
	return all
}

// fault is what is done to one call on its way: it may pass the call on, or not.
type fault func(w http.ResponseWriter, r *http.Request, pass http.Handler)

// faults are the names of faults and how many numbers they take.
var faults = map[string]struct {
	numbers int
	of      func(n []int) fault
}{
	"cut-upload":   {1, cutUpload},   // bytes that arrive
	"lose-answer":  {0, loseAnswer},  // the call takes effect
	"status":       {2, status},      // HTTP, seconds of Retry-After (0 = none)
	"busy-until":   {3, busyUntil},   // HTTP, seconds of Retry-After as a date, seconds that the clock is ahead
	"slow-answer":  {2, slowAnswer},  // bytes a piece, milliseconds between two
	"cut-answer":   {2, cutAnswer},   // bytes that get through, seconds of silence before the end
	"stall-answer": {1, stallAnswer}, // bytes that get through; then silence until the caller gives up
	"forget-place": {0, forgetPlace}, // a stream that repeats every event
	"damage":       {0, damage},      // one byte is changed
	"lie":          {0, lie},         // what the answer says was charged is changed
}

func parse(name string) (word string, numbers []int, err error) {
	word, rest, _ := strings.Cut(name, ":")
	for number := range strings.SplitSeq(rest, ":") {
		if number == "" {
			continue
		}
		n, err := strconv.Atoi(number)
		if err != nil {
			return "", nil, fmt.Errorf("the fault %q: %w", name, err)
		}
		numbers = append(numbers, n)
	}
	return word, numbers, nil
}

func faultOf(name string) (fault, error) {
	word, numbers, err := parse(name)
	kind, ok := faults[word]
	if err != nil || !ok || len(numbers) != kind.numbers {
		return nil, fmt.Errorf("there is no fault %q", name)
	}
	return kind.of(numbers), nil
}

// waitOf is how long a fault asks the caller to wait; 0 for no wish.
func waitOf(name string) time.Duration {
	if word, numbers, err := parse(name); err == nil && (word == "status" || word == "busy-until") {
		return time.Duration(numbers[1]) * time.Second
	}
	return 0
}

func cutUpload(n []int) fault {
	return func(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
		_, _ = io.CopyN(io.Discard, r.Body, int64(n[0]))
		panic(http.ErrAbortHandler)
	}
}

func loseAnswer([]int) fault {
	return func(_ http.ResponseWriter, r *http.Request, pass http.Handler) {
		pass.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	}
}

// status refuses as a proxy does, without the service's form.
func status(n []int) fault {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		_, _ = io.Copy(io.Discard, r.Body)
		if n[1] > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(n[1]))
		}
		w.WriteHeader(n[0])
		_, _ = io.WriteString(w, "<html>busy</html>")
	}
}

// busyUntil refuses until a date, by a clock that is not the caller's.
func busyUntil(n []int) fault {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		_, _ = io.Copy(io.Discard, r.Body)
		now := time.Now().UTC().Add(time.Duration(n[2]) * time.Second)
		w.Header().Set("Date", now.Format(http.TimeFormat))
		w.Header().Set("Retry-After", now.Add(time.Duration(n[1])*time.Second).Format(http.TimeFormat))
		w.WriteHeader(n[0])
	}
}

func slowAnswer(n []int) fault {
	return func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
		pass.ServeHTTP(&slowWriter{w, r.Context(), n[0], time.Duration(n[1]) * time.Millisecond}, r)
	}
}

// slowWriter writes in pieces, with a pause after each.
type slowWriter struct {
	http.ResponseWriter
	caller context.Context
	piece  int
	pause  time.Duration
}

func (s *slowWriter) Write(p []byte) (written int, err error) {
	for piece := range slices.Chunk(p, s.piece) {
		n, err := s.ResponseWriter.Write(piece)
		if written += n; err != nil {
			return written, err
		}
		_ = http.NewResponseController(s.ResponseWriter).Flush()
		select {
		case <-time.After(s.pause):
		case <-s.caller.Done():
			return written, s.caller.Err()
		}
	}
	return written, nil
}

// Unwrap lets the proxy flush.
func (s *slowWriter) Unwrap() http.ResponseWriter { return s.ResponseWriter }

func cutAnswer(n []int) fault {
	return func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
		silence := make(chan struct{})
		pass.ServeHTTP(&shortWriter{ResponseWriter: w, left: n[0], silence: silence, before: func() {
			time.AfterFunc(time.Duration(n[1])*time.Second, func() { close(silence) })
		}}, r)
	}
}

func stallAnswer(n []int) fault {
	return func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
		pass.ServeHTTP(&shortWriter{ResponseWriter: w, left: n[0], silence: r.Context().Done(), before: func() {}}, r)
	}
}

// shortWriter lets some bytes through, is silent, and closes the connection.
type shortWriter struct {
	http.ResponseWriter
	left    int
	before  func() // is called when the silence begins
	silence <-chan struct{}
}

func (s *shortWriter) Write(p []byte) (int, error) {
	n, _ := s.ResponseWriter.Write(p[:min(len(p), s.left)])
	if s.left -= n; s.left == 0 {
		_ = http.NewResponseController(s.ResponseWriter).Flush()
		s.before()
		<-s.silence
		panic(http.ErrAbortHandler)
	}
	return len(p), nil
}

// Unwrap lets the proxy flush.
func (s *shortWriter) Unwrap() http.ResponseWriter { return s.ResponseWriter }

func forgetPlace([]int) fault {
	return func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
		r.Header.Del("Last-Event-ID")
		pass.ServeHTTP(w, r)
	}
}

func damage([]int) fault {
	return func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
		done := false
		pass.ServeHTTP(&changingWriter{w, func(p []byte) []byte {
			if !done && len(p) > 0 {
				p[len(p)/2] ^= 1
				done = true
			}
			return p
		}}, r)
	}
}

var charged = regexp.MustCompile(`"charged_cents": ?(\d+)`)

func lie([]int) fault {
	return func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
		pass.ServeHTTP(&changingWriter{w, func(p []byte) []byte {
			return charged.ReplaceAllFunc(p, func(found []byte) []byte { // as many bytes as before
				found[len(found)-1] = '0' + (found[len(found)-1]-'0'+1)%10
				return found
			})
		}}, r)
	}
}

// changingWriter changes what is written, and not how long it is.
type changingWriter struct {
	http.ResponseWriter
	change func([]byte) []byte
}

func (c *changingWriter) Write(p []byte) (int, error) {
	return c.ResponseWriter.Write(c.change(bytes.Clone(p)))
}

// Unwrap lets the proxy flush.
func (c *changingWriter) Unwrap() http.ResponseWriter { return c.ResponseWriter }
