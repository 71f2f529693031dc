//go:build proxies

package proxies

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"svc.example/internal/test/await"
)

// load is callers that quote, start, poll, follow, upload and download without a pause and
// without a second try. Only a stream that ends before its job is opened again.
type load struct {
	t    *testing.T
	base string
	key  string

	stop    chan struct{}
	callers sync.WaitGroup

	mu       sync.Mutex
	calls    map[string]int // that succeeded, by what they do
	jobs     int            // that were followed to their end
	failures []string
}

// begin starts callers.
func (l *load) begin(callers int) {
	l.stop, l.calls = make(chan struct{}), map[string]int{}
	for range callers {
		l.callers.Go(func() {
			for {
				select {
				case <-l.stop:
					return
				default:
					l.round()
				}
			}
		})
	}
}

// more waits until that many jobs more have been followed to their end.
func (l *load) more(jobs int) {
	l.t.Helper()
	done := func() int { l.mu.Lock(); defer l.mu.Unlock(); return l.jobs }
	before := done()
	await.Until(l.t, "the callers", func() bool { return done() >= before+jobs })
}

// end waits for the callers and reports each call that failed.
func (l *load) end() {
	l.t.Helper()
	close(l.stop)
	l.callers.Wait()
	total := 0
	for _, n := range l.calls {
		total += n
	}
	l.t.Logf("%d calls %v, %d jobs, %d streams opened again, %d failures", total, l.calls, l.jobs, l.calls["follow"]-l.jobs, len(l.failures))
	for i, failure := range l.failures {
		if i == 20 {
			l.t.Errorf("and %d more", len(l.failures)-i)
			break
		}
		l.t.Error(failure)
	}
}

// call sends a request once. It reports whether it succeeded.
func (l *load) call(what, method, path, kind string, body []byte, into any) bool {
	text, err := l.send(method, path, kind, body)
	if err == nil && into != nil {
		err = json.Unmarshal(text, into)
	}
	l.note(what, err)
	return err == nil
}

// note counts a call.
func (l *load) note(what string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.failures = append(l.failures, fmt.Sprintf("%s: %v", what, err))
		return
	}
	l.calls[what]++
}

func (l *load) request(method, path string, body []byte) (*http.Request, error) {
	if !strings.HasPrefix(path, "http") {
		path = l.base + path
	}
	req, err := http.NewRequestWithContext(context.WithoutCancel(l.t.Context()), method, path, bytes.NewReader(body))
	if err == nil && strings.HasPrefix(path, l.base) {
		req.Header.Set("Authorization", "Bearer "+l.key)
	}
	return req, err
}

// client opens a connection for each request: what Go's client would try again goes unseen
// otherwise.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

func (l *load) send(method, path, kind string, body []byte) ([]byte, error) {
	req, err := l.request(method, path, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", kind)
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode >= 300 {
		err = fmt.Errorf("%d %.200s", res.StatusCode, text)
	}
	return text, err
}

// round is a job from its upload to its ZIP.
func (l *load) round() {
	part := make([]byte, 1<<20)
	_, _ = rand.Read(part) // never fails
	sum := sha256.Sum256(part)
	var inspected struct {
		UploadID string `json:"upload_id"`
		QuoteID  string `json:"quote_id"`
	}
	var job struct {
		JobID       string  `json:"job_id"`
		Status      string  `json:"status"`
		DownloadURL *string `json:"download_url"`
	}
	kind, body := (&caller{t: l.t}).form()
	if !l.call("upload", "PUT", "/node/v1/parts/"+hex.EncodeToString(sum[:]), "application/octet-stream", part, nil) ||
		!l.call("quote", "POST", "/node/v1/uploads/inspect", kind, body, &inspected) ||
		!l.call("start", "POST", "/node/v1/uploads/"+inspected.UploadID+"/start", "application/json", []byte(`{"quote_id":"`+inspected.QuoteID+`","legal_acceptance":"SVC_LEGAL_V1"}`), &job) {
		return
	}
	path := "/node/v1/jobs/" + job.JobID
	last := ""
	for !terminal(job.Status) {
		if !l.follow(path+"/events", &last) || !l.call("poll", "GET", path, "", nil, &job) {
			return
		}
	}
	if job.Status != "completed" || job.DownloadURL == nil {
		l.note("job", fmt.Errorf("%s is %s", job.JobID, job.Status))
		return
	}
	if l.call("download", "GET", *job.DownloadURL, "", nil, nil) && l.call("wallet", "GET", "/v1/wallet", "", nil, nil) {
		l.mu.Lock()
		l.jobs++
		l.mu.Unlock()
	}
}

func terminal(status string) bool {
	return status == "completed" || status == "failed" || status == "cancelled"
}

// follow reads a stream from the last event on until it ends, with its job or with its process.
// To open it must succeed.
func (l *load) follow(path string, last *string) bool {
	res, err := l.openStream(path, *last)
	l.note("follow", err)
	if err != nil {
		return false
	}
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if id, found := strings.CutPrefix(lines.Text(), "id: "); found {
			*last = id
		}
	}
	_ = res.Body.Close()
	return true
}

func (l *load) openStream(path, last string) (*http.Response, error) {
	req, err := l.request("GET", path, nil)
	if err != nil {
		return nil, err
	}
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	res, err := client.Do(req)
	if err == nil && res.StatusCode != http.StatusOK {
		_ = res.Body.Close()
		err = fmt.Errorf("%d", res.StatusCode)
	}
	return res, err
}

// readiness is the status of a process's /readyz; 0 for none.
func readiness(address string) int {
	res, err := client.Get(address + "/readyz")
	if err != nil {
		return 0
	}
	_ = res.Body.Close()
	return res.StatusCode
}
