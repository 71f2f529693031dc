package processes_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/demo"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/await"
	"svc.example/internal/test/story"
)

// TestTracesOfAJobNameNobody runs the program with a collector of traces: what happens to a
// job is reported by its id, without any key, file or person.
func TestTracesOfAJobNameNobody(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var told bytes.Buffer
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		told.Write(body)
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(collector.Close)

	svc := story.Open(t, app.Config{Data: t.TempDir(), Log: story.LogOf(t)})
	c, key := svc.Caller(story.Credit), svc.NodeKey().Secret
	served, err := serveBinary(t, apptest.Binary(t), svc.Config.Data,
		append(os.Environ(), "OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL, "OTEL_BSP_SCHEDULE_DELAY=50"), "--worker", "none")
	if err != nil {
		t.Fatal(err)
	}
	svc.URL = served.address
	c.Client = story.NewClient(t, served.address, c.Agent.Secret)
	svc.Worker(&story.Painter{})
	job := c.StartFrames(2)
	c.Await(job.JobID, client.StatusCompleted)
	saying := func(text string) bool {
		mu.Lock()
		defer mu.Unlock()
		return strings.Contains(told.String(), text)
	}
	for _, want := range []string{
		"POST /node/v1/uploads/inspect", "POST /node/v1/uploads/{upload_id}/start", "POST /farm/v1/lease", "POST /farm/v1/frames", "db write", "svc.job_id", job.JobID, "service.version",
	} {
		await.Until(t, "the collector knows "+want, func() bool { return saying(want) })
	}
	if err := served.stop(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	for _, never := range []string{key, c.Agent.Secret, "svc_node_", demo.Filename, "@example.com", "Bearer"} {
		if saying(never) {
			t.Errorf("the collector got %q", never)
		}
	}
}
