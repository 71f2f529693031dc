package workers_test

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/demo"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/await"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/s3test"
	"svc.example/internal/test/story"
)

// TestAStoppedObjectStoreLosesNothingAndBlamesNobody: the S3 store goes away in the middle of an
// upload and while workers deliver a frame and a test frame, on both databases, where workers
// and callers use links to the store and where all bytes pass through the service. Callers are told to come back, probe and metrics say what is wrong, the log says so
// once, and everything is finished afterwards.
func TestAStoppedObjectStoreLosesNothingAndBlamesNobody(t *testing.T) {
	t.Parallel()
	for _, links := range []string{"none", "all"} {
		t.Run("links="+links, func(t *testing.T) {
			t.Parallel()
			dbtest.EachURL(t, func(t *testing.T, database string) {
				server, err := url.Parse(os.Getenv("SVC_TEST_S3"))
				if err != nil {
					t.Fatal(err)
				}
				way := lineTo(t, server.Host)
				server.Host = way.listener.Addr().String()
				stoppedFiles(t, database, server.String(), links, way)
			})
		})
	}
}

// TestAnObjectStoreThatRefusesLosesNothingAndBlamesNobody is the same with a store that answers: its
// key has ended, or it fails.
func TestAnObjectStoreThatRefusesLosesNothingAndBlamesNobody(t *testing.T) {
	t.Parallel()
	for code, status := range map[string]int{"AccessDenied": http.StatusForbidden, "ExpiredToken": http.StatusBadRequest, "InternalError": http.StatusInternalServerError} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			dbtest.EachURL(t, func(t *testing.T, database string) {
				refusedFiles(t, database, func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "application/xml")
					w.WriteHeader(status)
					_, _ = fmt.Fprintf(w, `<?xml version="1.0"?><Error><Code>%s</Code><Message>no</Message></Error>`, code)
				})
			})
		})
	}
}

// TestASilentObjectStoreLosesNothingAndBlamesNobody is the same with a store that takes requests and
// never answers.
func TestASilentObjectStoreLosesNothingAndBlamesNobody(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, database string) {
		refusedFiles(t, database, func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done() // until the service gives up
		})
	})
}

// refusedFiles is stoppedFiles with a store that answers as refuse does while it is out of order.
func refusedFiles(t *testing.T, database string, refuse http.HandlerFunc) {
	t.Helper()
	way := &refusal{}
	endpoint := s3test.Proxy(t, func(pass http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if way.refuses.Load() {
				refuse(w, r)
			} else {
				pass.ServeHTTP(w, r)
			}
		})
	})
	stoppedFiles(t, database, endpoint, "none", way)
}

// refusal is whether a store refuses.
type refusal struct{ refuses atomic.Bool }

func (r *refusal) cut()     { r.refuses.Store(true) }
func (r *refusal) restore() { r.refuses.Store(false) }

// stoppedFiles has the store of files, which is at endpoint, away for a while.
func stoppedFiles(t *testing.T, database, endpoint, links string, way interface {
	cut()
	restore()
}) {
	t.Helper()
	var log logBuffer
	var metrics string
	config := app.Config{
		Listen: story.FreeAddress(t), Data: t.TempDir(), Database: database, Blobs: s3test.AddressAt(t, endpoint) + "&silence=1s&links=" + links,
		Log: apptest.Logger(t, io.MultiWriter(t.Output(), &log)), MetricsListen: "127.0.0.1:0", AnnounceMetrics: func(address string) { metrics = address },
	}
	pass := story.Moved(&config)
	svc := story.StartLone(t, config)
	c := svc.Caller(story.Credit)
	g, one, other := story.BarrierAt(1), &story.Painter{}, &story.Painter{}
	earlier := svc.Caller(story.Credit)
	done := finished(svc, earlier)
	one.Before, other.Before, one.Look, other.Look = g.Pass, g.Pass, g.Pass, g.Pass
	svc.Worker(one)
	svc.Worker(other)
	looked := c.QuoteFrames(1)
	preview := lookAt(c, looked.UploadID, 1)
	job := c.StartFrames(1)
	for range 2 {
		if _, err := g.Await(story.Patient(t)); err != nil {
			t.Fatal(err)
		}
	}
	upload := beginUpload(t, svc.URL, c.Agent.Secret)
	before := len(log.String())

	way.cut()
	upload.finish().wantAway(t, "an upload")
	for range 3 {
		whole(t, svc.URL, c.Agent.Secret).wantAway(t, "another upload")
		if links == "none" {
			away{story.Do(t, story.Request(t, http.MethodGet, done.DownloadURL, "", ""))}.wantAway(t, "a download")
		}
	}
	g.Open() // both pictures are delivered into the outage
	pass(25 * time.Second)
	await.Until(t, "the probe to notice", func() bool { return statusOf(t, svc.URL+"/readyz") == http.StatusServiceUnavailable })
	wantFigures(t, metrics, "svc_blobs_up 0", "svc_store_up 1")

	way.restore()
	await.Until(t, "the log to tell of the end", func() bool { return strings.Contains(log.String(), "the store answers again") })
	if n := strings.Count(log.String()[before:], "level=ERROR"); n > 1 {
		t.Errorf("the log has %d errors of one outage:\n%s", n, log.String()[before:])
	}
	await.Until(t, "the probe to succeed", func() bool { return statusOf(t, svc.URL+"/readyz") == http.StatusOK })
	wantFigures(t, metrics, "svc_blobs_up 1", "svc_store_up 1")
	if again := whole(t, svc.URL, c.Agent.Secret); again.Status != http.StatusOK {
		t.Errorf("the upload afterwards: %d %s", again.Status, again.Body)
	}
	earlier.Fetch(done, 1)
	c.Fetch(c.Await(job.JobID, client.StatusCompleted), 1)
	awaitLook(c, preview, client.PreviewReady)
	if failed := svc.FailedTries(job.JobID); failed != 0 {
		t.Errorf("the log of the job tells of %d failed tries", failed)
	}
	if painted := slices.Concat(one.Frames(), other.Frames()); len(painted) != 1 {
		t.Errorf("frames %v were rendered, each once was enough", painted)
	}
	svc.SettledOnce(c, 1)
}

// finished is a job of before the outage.
func finished(svc *story.Service, c story.Caller) *client.Job {
	svc.T.Helper()
	stop := svc.Worker(&story.Painter{})
	defer stop()
	return c.Await(c.StartFrames(1).JobID, client.StatusCompleted)
}

// away is what came back during an outage.
type away struct{ story.Answer }

func (a away) wantAway(t *testing.T, what string) {
	t.Helper()
	a.Want(t, http.StatusServiceUnavailable, `"unavailable"`)
	if a.Header.Get("Retry-After") == "" {
		t.Errorf("%s: no Retry-After in %v", what, a.Header)
	}
}

// halfUpload is an upload whose second half is still to come.
type halfUpload struct {
	t      *testing.T
	body   *io.PipeWriter
	rest   []byte
	answer chan away
}

// beginUpload sends half of the demo scene.
func beginUpload(t *testing.T, address, key string) halfUpload {
	t.Helper()
	kind, form := formOf(t)
	from, to := io.Pipe()
	u := halfUpload{t, to, form[len(form)/2:], make(chan away, 1)}
	req, err := http.NewRequestWithContext(story.Patient(t), http.MethodPost, address+"/node/v1/uploads/inspect", from)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", kind)
	req.Header.Set("Authorization", "Bearer "+key)
	go func() {
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			u.answer <- away{story.Answer{Body: []byte(err.Error())}}
			return
		}
		defer func() { _ = res.Body.Close() }()
		body, _ := io.ReadAll(res.Body)
		u.answer <- away{story.Answer{Status: res.StatusCode, Header: res.Header, Body: body}}
	}()
	if _, err := to.Write(form[:len(form)/2]); err != nil {
		t.Fatal(err)
	}
	return u
}

// finish sends the rest. The service may have answered before.
func (u halfUpload) finish() away {
	u.t.Helper()
	_, _ = u.body.Write(u.rest)
	_ = u.body.Close()
	return await.Next(u.t, u.answer, "the answer to the upload")
}

// whole uploads the demo scene.
func whole(t *testing.T, address, key string) away {
	t.Helper()
	kind, form := formOf(t)
	req := story.Request(t, http.MethodPost, address+"/node/v1/uploads/inspect", key, string(form))
	req.Header.Set("Content-Type", kind)
	return away{story.Do(t, req)}
}

func formOf(t *testing.T) (kind string, form []byte) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, err := w.CreateFormFile("file", demo.Filename)
	if err == nil {
		// A scene of its own: the store has the bytes of the others.
		_, err = part.Write(append(demo.Scene(), fmt.Sprint(time.Now().UnixNano())...))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return w.FormDataContentType(), b.Bytes()
}

func statusOf(t *testing.T, address string) int {
	t.Helper()
	return story.Get(t, http.MethodGet, address, nil).Status
}

// wantFigures looks for lines of the metrics.
func wantFigures(t *testing.T, metrics string, lines ...string) {
	t.Helper()
	await.Until(t, strings.Join(lines, ", "), func() bool {
		text := string(story.Get(t, http.MethodGet, metrics+"/metrics", nil).Body)
		return !slices.ContainsFunc(lines, func(line string) bool { return !strings.Contains(text, "\n"+line+"\n") })
	})
}
