package tracing_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"svc.example/internal/ground/tracing"
)

// collector is a receiver of OTLP over HTTP, which keeps what comes. The messages
// contain the text of spans as it is.
type collector struct {
	mu   sync.Mutex
	came bytes.Buffer
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.URL.Path == "/v1/traces" && r.Header.Get("Content-Type") == "application/x-protobuf" {
		c.came.Write(body)
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

func (c *collector) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.came.String()
}

// start starts tracing to a collector; the environment is the process's, so these tests do
// not run in parallel.
func start(t *testing.T, log io.Writer) (c *collector, stop func()) {
	t.Helper()
	c = &collector{}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	stop, err := tracing.Start(t.Context(), slog.New(slog.NewTextHandler(log, nil)), "svc-test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return c, stop
}

const (
	jobID = "JOB-01a20bc913c67196badcbac3bae64a2f"
	above = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
)

func request(target string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, target, nil)
	r.Header.Set("traceparent", above)
	return r
}

func TestSpansSayWhatHappenedAndNoMore(t *testing.T) {
	c, stop := start(t, io.Discard)
	told := make(chan string, 1)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { told <- r.Header.Get("traceparent") }))
	defer other.Close()

	ctx, done := tracing.Request(t.Context(), request("/v1/renders/"+jobID+"?sig=hunter2"), "GET /v1/renders/{job_id}")
	id := tracing.ID(ctx)
	_, end := tracing.Child(ctx, "db read")
	end(errors.New("the scene Secret Project is gone"))
	client := http.Client{Transport: tracing.Transport(http.DefaultTransport, "elsewhere", true)}
	call, err := http.NewRequestWithContext(ctx, http.MethodGet, other.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Do(call)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	done(200, "WSP-1")
	_, made := tracing.Request(t.Context(), request("/v1/renders/Secret-Project"), "GET /v1/renders/{job_id}")
	made(404, "")
	tracing.Past(t.Context(), "frame", time.Second, false, tracing.Frame(jobID, 7, 1)...)
	stop()

	if len(id) != 32 || strings.Contains(above, id) {
		t.Errorf("the trace is %q: a caller's is linked, not continued", id)
	}
	if got := <-told; !strings.Contains(got, id) {
		t.Errorf("the other side got %q, want the trace %s", got, id)
	}
	text := c.text()
	for _, want := range []string{"svc-test", "GET /v1/renders/{job_id}", jobID, "WSP-1", "db read", "elsewhere GET", "svc.frame"} {
		if !strings.Contains(text, want) {
			t.Errorf("the collector is not told %q", want)
		}
	}
	for _, never := range []string{"hunter2", "Secret", "sig="} {
		if strings.Contains(text, never) {
			t.Errorf("the collector got %q", never)
		}
	}
	if n := strings.Count(text, "\x0a\xf7\x65\x19\x16\xcd\x43\xdd\x84\x48\xeb\x21\x1c\x80\x31\x9c"); n != 2 {
		t.Errorf("%d links to the caller's trace, want 2", n)
	}
}

func TestACollectorThatIsAwayDelaysNobodyAndIsSaidOnce(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", gone.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "200")
	var log bytes.Buffer
	stop, err := tracing.Start(t.Context(), slog.New(slog.NewTextHandler(&log, nil)), "svc-test")
	if err != nil {
		t.Fatal(err)
	}
	for range 10_000 {
		_, end := tracing.Root(t.Context(), "work")
		end(nil)
	}
	stop()
	if strings.Count(log.String(), "the collector of traces does not take them") != 1 {
		t.Errorf("the log says %q", log.String())
	}
}

func TestNothingIsTracedWithoutACollector(t *testing.T) {
	for name, value := range map[string]string{"": "", "OTEL_SDK_DISABLED": "true", "OTEL_TRACES_EXPORTER": "none"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "")
			if name != "" {
				t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
				t.Setenv(name, value)
			}
			stop, err := tracing.Start(t.Context(), slog.New(slog.DiscardHandler), "svc-test")
			if err != nil {
				t.Fatal(err)
			}
			stop()
		})
	}
	ctx := context.Background()
	if inner, end := tracing.Child(ctx, "db read"); inner != ctx {
		t.Error("a span without one above it")
	} else {
		end(nil)
	}
}

func TestAnEnvironmentThatAsksForMoreIsRefused(t *testing.T) {
	for name, value := range map[string]string{"OTEL_TRACES_EXPORTER": "zipkin", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
			t.Setenv(name, value)
			if _, err := tracing.Start(t.Context(), slog.New(slog.DiscardHandler), "svc-test"); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%v", err)
			}
		})
	}
}
