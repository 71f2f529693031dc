package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/demo"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/await"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/wallet"
)

// service is a service that a test stops and starts again, and a caller.
type service struct {
	end  func() // stops, audits and closes; once
	t    *testing.T
	app  *app.App
	base string
	stop func() // waits for the end
	key  string
}

func start(t *testing.T, cfg app.Config) *service {
	t.Helper()
	cfg.Listen, cfg.Data, cfg.Log = "127.0.0.1:0", t.TempDir(), slog.New(slog.DiscardHandler)
	opened, err := app.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	s := &service{t: t, app: opened}
	s.end = sync.OnceFunc(func() {
		s.stop()
		apptest.Audit(t, opened)
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(s.end)
	s.base, s.stop = apptest.Serve(t, opened)
	err = opened.DB.Write(t.Context(), func(tx *db.Tx) error {
		p, err := identity.CreateWorkspace(t.Context(), tx, "one@example.com")
		if err != nil {
			return err
		}
		key, err := identity.CreateAgentKey(t.Context(), tx, p.WorkspaceID, identity.AgentTerms{Name: "agent"})
		if err != nil {
			return err
		}
		s.key = key.Secret
		return wallet.Credit(t.Context(), tx, p.WorkspaceID, "test", 100)
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// answer is what a call got.
type answer struct {
	status int
	body   struct {
		UploadID string `json:"upload_id"`
		QuoteID  string `json:"quote_id"`
		JobID    string `json:"job_id"`
	}
	err error
}

// patient sends a body only when the service begins to read it.
var patient = &http.Client{Transport: &http.Transport{ExpectContinueTimeout: await.Patience}}

func (s *service) call(ctx context.Context, path, kind string, content io.Reader) (a answer) {
	r, err := http.NewRequestWithContext(ctx, "POST", s.base+path, content)
	if err != nil {
		return answer{err: err}
	}
	r.Header.Set("Authorization", "Bearer "+s.key)
	r.Header.Set("Content-Type", kind)
	r.Header.Set("Expect", "100-continue")
	res, err := patient.Do(r)
	if err != nil {
		return answer{err: err}
	}
	defer func() { _ = res.Body.Close() }()
	a.status = res.StatusCode
	a.err = json.NewDecoder(res.Body).Decode(&a.body)
	return a
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// upload sends the demo scene, and calls middle when half of it is sent.
func (s *service) upload(ctx context.Context, middle func()) answer {
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	part, err := w.CreateFormFile("file", "scene.blend")
	if err == nil {
		_, err = part.Write(demo.Scene())
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return answer{err: err}
	}
	all := form.Bytes()
	pause := readerFunc(func([]byte) (int, error) { middle(); return 0, io.EOF })
	content := io.MultiReader(bytes.NewReader(all[:len(all)/2]), pause, bytes.NewReader(all[len(all)/2:]))
	return s.call(ctx, "/node/v1/uploads/inspect", w.FormDataContentType(), content)
}

// stopping begins a stop, and returns when it has begun. ended is closed when it
// is over.
func (s *service) stopping() (ended <-chan struct{}) {
	over := make(chan struct{})
	go func() {
		defer close(over)
		s.stop()
	}()
	for {
		res, err := http.Get(s.base + "/readyz")
		if err != nil {
			return over // no caller listens any more
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusOK {
			return over
		}
	}
}

func TestAStopInTheMiddleOfTenUploadsLosesNone(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		s := start(t, app.Config{Database: url, StopTimeout: await.Patience})
		const uploads = 10
		var halfway sync.WaitGroup
		halfway.Add(uploads)
		goOn, answers := make(chan struct{}), make(chan answer, uploads)
		for range uploads {
			go func() {
				answers <- s.upload(context.Background(), func() { halfway.Done(); <-goOn })
			}()
		}
		halfway.Wait()
		ended := s.stopping()
		close(goOn)
		var stored []string
		for range uploads {
			a := await.Next(t, answers, "the answer to an upload")
			if a.status != http.StatusOK || a.err != nil {
				t.Errorf("an upload in the middle of a stop is answered %d, %v", a.status, a.err)
			}
			stored = append(stored, a.body.UploadID)
		}
		await.Next(t, ended, "the end of the stop")

		s.base, s.stop = apptest.Serve(t, s.app)
		for _, upload := range stored {
			a := s.call(t.Context(), "/node/v1/uploads/"+upload+"/quote", "application/json", strings.NewReader(`{"frame_start":1,"frame_end":1}`))
			if a.status != http.StatusOK {
				t.Errorf("upload %q is not there after the stop: %d, %v", upload, a.status, a.err)
			}
		}
	})
}

// TestAStopDoesNotWaitForWatchers gives it an hour, which it must not take.
func TestAStopDoesNotWaitForWatchers(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		s := start(t, app.Config{Database: url, StopTimeout: time.Hour})
		up := s.upload(t.Context(), func() {})
		terms := fmt.Sprintf(`{"quote_id":%q,"legal_acceptance":"SVC_LEGAL_V1"}`, up.body.QuoteID)
		job := s.call(t.Context(), "/node/v1/uploads/"+up.body.UploadID+"/start", "application/json", strings.NewReader(terms))
		if job.status != http.StatusOK {
			t.Fatalf("start: %d, %v", job.status, job.err)
		}
		r, err := http.NewRequestWithContext(t.Context(), "GET", s.base+"/node/v1/jobs/"+job.body.JobID+"/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+s.key)
		stream, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = stream.Body.Close() }()
		ended := s.stopping()
		told, err := io.ReadAll(stream.Body)
		if err != nil || !strings.HasSuffix(string(told), "retry: 1000\n\n") {
			t.Errorf("a watcher gets %q, %v", told, err)
		}
		await.Next(t, ended, "the end of the stop")
	})
}

// TestAStopEndsInTimeWhateverARequestDoes holds an upload until the stop is over.
func TestAStopEndsInTimeWhateverARequestDoes(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		s := start(t, app.Config{Database: url, StopTimeout: 10 * time.Millisecond})
		halfway, goOn, answers := make(chan struct{}), make(chan struct{}), make(chan answer, 1)
		go func() {
			answers <- s.upload(context.Background(), func() { close(halfway); <-goOn })
		}()
		await.Next(t, halfway, "half an upload")
		await.Next(t, s.stopping(), "the end of the stop")
		close(goOn)
		if a := await.Next(t, answers, "the answer to the upload"); a.status == http.StatusOK {
			t.Error("an upload that was cut off is answered 200")
		}
	})
}
