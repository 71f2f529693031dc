package client_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"svc.example/client"
)

// service speaks the wire protocol of the job API over a job that has already
// happened: its events are in a list, its ZIP in memory. Faults come before it.
type service struct {
	*httptest.Server
	lock     sync.Mutex
	requests []*http.Request // in the order of arrival, without bodies
	faults   map[string][]fault
	uploads  [][]byte
	ranges   []string // the frame fields that stood before each upload's file
	holds    map[string]string
	events   []string // as they are on the wire; number i has id i+1
	polled   []string // RenderObjects that status reads give, the last for ever
	zip      []byte
	linkRead int
}

// fault answers one request in the place of the service, or calls on.
type fault func(w http.ResponseWriter, r *http.Request, service http.HandlerFunc)

// setup starts a service and a client whose waits take no time and are noted.
func setup(t testing.TB) (*service, *client.Client, *waits) {
	t.Helper()
	s := &service{faults: map[string][]fault{}, holds: map[string]string{}}
	mux := http.NewServeMux()
	for pattern, handler := range map[string]http.HandlerFunc{
		"POST /node/v1/uploads/inspect":    s.inspect,
		"POST /node/v1/uploads/{id}/start": s.start,
		"GET /node/v1/jobs/{id}":           s.job,
		"GET /node/v1/jobs/{id}/events":    s.stream,
		"GET /node/v1/jobs/{id}/download":  s.link,
		"GET /artifacts/{id}":              s.artifact,
	} {
		mux.HandleFunc(pattern, s.counted(pattern, handler))
	}
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	w := &waits{}
	c, err := client.New(s.URL, "svc_agent_test", client.WithWait(w.wait))
	if err != nil {
		t.Fatal(err)
	}
	return s, c, w
}

// counted notes the request and lets the next planned fault go first.
func (s *service) counted(pattern string, handler http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.lock.Lock()
		s.requests = append(s.requests, r)
		var next fault
		if planned := s.faults[pattern]; len(planned) > 0 {
			next, s.faults[pattern] = planned[0], planned[1:]
		}
		s.lock.Unlock()
		if next != nil {
			next(w, r, handler)
			return
		}
		handler(w, r)
	}
}

func (s *service) inspect(w http.ResponseWriter, r *http.Request) {
	form, err := r.MultipartReader()
	if err != nil {
		refuse(w, 415, "unsupported_media_type", nil)
		return
	}
	fields := ""
	for {
		part, err := form.NextPart()
		if err != nil {
			refuse(w, 400, "invalid_request", nil)
			return
		}
		value, err := io.ReadAll(part)
		if err != nil {
			return // the connection is gone
		}
		if part.FormName() != "file" {
			fields += part.FormName() + "=" + string(value) + ";"
			continue
		}
		s.lock.Lock()
		s.uploads = append(s.uploads, value)
		s.ranges = append(s.ranges, fields)
		s.lock.Unlock()
		answer(w, map[string]any{"ok": true, "upload_id": "UPL-1", "filename": part.FileName(),
			"quote": map[string]any{"quote_id": "QTE-1", "price_cents": 3, "frame_count": 3}})
		return
	}
}

func (s *service) start(w http.ResponseWriter, r *http.Request) {
	var body struct {
		QuoteID string `json:"quote_id"`
		Legal   string `json:"legal_acceptance"`
	}
	if json.NewDecoder(r.Body).Decode(&body) != nil || body.Legal != "SVC_LEGAL_V1" {
		refuse(w, 400, "legal_acceptance_required", nil)
		return
	}
	s.lock.Lock()
	if s.holds[body.QuoteID] == "" {
		s.holds[body.QuoteID] = fmt.Sprintf("JOB-%d", len(s.holds)+1)
	}
	id := s.holds[body.QuoteID]
	s.lock.Unlock()
	answer(w, map[string]any{"ok": true, "job_id": id, "status": "queued", "quote_id": body.QuoteID})
}

func (s *service) job(w http.ResponseWriter, _ *http.Request) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if len(s.polled) == 0 {
		refuse(w, 404, "render_not_found", nil)
		return
	}
	now := s.polled[0]
	if len(s.polled) > 1 {
		s.polled = s.polled[1:]
	}
	io.WriteString(w, now)
}

func (s *service) stream(w http.ResponseWriter, r *http.Request) {
	s.write(w, r, len(s.events))
}

// write sends the events after the caller's last one, up to number until.
func (s *service) write(w http.ResponseWriter, r *http.Request, until int) {
	from, _ := strconv.Atoi(r.Header.Get("Last-Event-ID"))
	w.Header().Set("Content-Type", "text/event-stream")
	io.WriteString(w, ": keep-alive\n\n")
	for i := from; i < until; i++ {
		fmt.Fprintf(w, "id: %d\n%s\n\n", i+1, s.events[i])
	}
}

func (s *service) link(w http.ResponseWriter, _ *http.Request) {
	s.lock.Lock()
	s.linkRead++
	n := s.linkRead
	s.lock.Unlock()
	sum := sha256.Sum256(s.zip)
	answer(w, map[string]any{"ok": true, "job_id": "JOB-1", "download": map[string]any{
		"url": fmt.Sprintf("%s/artifacts/JOB-1?link=%d", s.URL, n), "filename": "scene.zip",
		"size_bytes": len(s.zip), "sha256": hex.EncodeToString(sum[:])}})
}

func (s *service) artifact(w http.ResponseWriter, r *http.Request) {
	http.ServeContent(w, r, "scene.zip", time.Time{}, bytes.NewReader(s.zip))
}

// to lists what arrived at a path, in order.
func (s *service) to(path string) (found []*http.Request) {
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, r := range s.requests {
		if r.URL.Path == path {
			found = append(found, r)
		}
	}
	return found
}

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(value)
}

func refuse(w http.ResponseWriter, status int, code string, more map[string]any) {
	told := map[string]any{"code": code, "message": "told " + code, "request_id": "req_1"}
	for name, value := range more {
		told[name] = value
	}
	w.WriteHeader(status)
	answer(w, map[string]any{"ok": false, "error": told})
}

// refusal is a fault that answers with an error instead.
func refusal(status int, code string, header http.Header, more map[string]any) fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) {
		for name := range header {
			w.Header().Set(name, header.Get(name))
		}
		refuse(w, status, code, more)
	}
}

// hangUp is a fault that reads some of the request and closes the connection.
func hangUp(after int64) fault {
	return func(_ http.ResponseWriter, r *http.Request, _ http.HandlerFunc) {
		io.CopyN(io.Discard, r.Body, after)
		panic(http.ErrAbortHandler)
	}
}

// loseAnswer is a fault that does the work and closes before it answers.
func loseAnswer(_ http.ResponseWriter, r *http.Request, service http.HandlerFunc) {
	service(httptest.NewRecorder(), r)
	panic(http.ErrAbortHandler)
}

// cutAfter is a fault that lets so many bytes of the answer through.
func cutAfter(n int) fault {
	return func(w http.ResponseWriter, r *http.Request, service http.HandlerFunc) {
		defer panic(http.ErrAbortHandler)
		service(&cutting{ResponseWriter: w, left: n}, r)
	}
}

type cutting struct {
	http.ResponseWriter
	left int
}

func (c *cutting) Write(p []byte) (int, error) {
	if len(p) > c.left {
		c.ResponseWriter.Write(p[:c.left])
		c.left = 0
		http.NewResponseController(c.ResponseWriter).Flush()
		return 0, io.ErrShortWrite
	}
	c.left -= len(p)
	return c.ResponseWriter.Write(p)
}

// Unwrap lets a proxy flush.
func (c *cutting) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// waits replaces the time between attempts: it passes at once.
type waits struct {
	lock  sync.Mutex
	taken []time.Duration
}

func (w *waits) wait(ctx context.Context, d time.Duration) error {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.taken = append(w.taken, d)
	return ctx.Err()
}
