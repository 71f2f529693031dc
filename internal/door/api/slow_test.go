package api_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"svc.example/internal/app"
	"svc.example/internal/ground/demo"
	"svc.example/internal/test/alone"
	"svc.example/internal/test/await"
	"svc.example/internal/test/dbtest"
)

// slowly is an upload of the demo scene that waits at its middle.
func (s *service) slowly(ctx context.Context, middle func()) (*http.Response, error) {
	form := s.form(nil, "scene.blend", demo.Scene())
	half := len(form.data) / 2
	waited := readerFunc(func([]byte) (int, error) {
		middle()
		return 0, io.EOF
	})
	content := io.MultiReader(bytes.NewReader(form.data[:half]), waited, bytes.NewReader(form.data[half:]))
	r, err := http.NewRequestWithContext(ctx, "POST", s.base+"/node/v1/uploads/inspect", content)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", form.kind)
	r.Header.Set("Authorization", "Bearer "+s.agent)
	return http.DefaultClient.Do(r)
}

func TestAnUploadThatStallsIsCutOff(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		s := start(t, url, func(c *app.Config) { c.UploadStall = 200 * time.Millisecond })
		ctx, cancel := context.WithTimeout(t.Context(), await.Patience)
		defer cancel()
		res, err := s.slowly(ctx, func() { <-ctx.Done() })
		if err == nil { // otherwise the connection was closed, which is as good
			_ = res.Body.Close()
			if res.StatusCode != 408 {
				t.Errorf("got %d", res.StatusCode)
			}
		}
		if ctx.Err() != nil {
			t.Error("it was not cut off")
		}
	})
}

// TestABodyOfJSONThatStallsIsCutOff holds it where it is read before the library
// reads it, which has a limit of its own.
func TestABodyOfJSONThatStallsIsCutOff(t *testing.T) {
	t.Parallel()
	s := start(t, dbtest.URL(t, "sqlite"), func(c *app.Config) { c.UploadStall = 200 * time.Millisecond })
	for what, c := range map[string]struct{ path, secret, key string }{
		"with an idempotency key": {"/v1/renders/preflight", s.account, "one"},
		"of a render":             {"/v1/renders", s.account, ""},
		"of a tool's call":        {"/mcp", s.agent, ""},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), await.Patience)
		held := readerFunc(func([]byte) (int, error) {
			<-ctx.Done()
			return 0, io.EOF
		})
		r, err := http.NewRequestWithContext(ctx, "POST", s.base+c.path, io.MultiReader(strings.NewReader(`{"`), held))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+c.secret)
		if c.key != "" {
			r.Header.Set("Idempotency-Key", c.key)
		}
		res, err := http.DefaultClient.Do(r)
		if err == nil { // otherwise the connection was closed, which is as good
			_ = res.Body.Close()
			if res.StatusCode != 408 {
				t.Errorf("%s: %d", what, res.StatusCode)
			}
		}
		if ctx.Err() != nil {
			t.Errorf("%s: it was not cut off", what)
		}
		cancel()
	}
}

// TestFortySlowUploadsDisturbNobody holds forty uploads at their middle: another
// one passes, memory stays low, and then all forty end well.
func TestFortySlowUploadsDisturbNobody(t *testing.T) {
	for _, engine := range dbtest.Engines() {
		t.Run(engine, func(t *testing.T) {
			alone.Run(t, func(t *testing.T) { fortySlowUploads(t, dbtest.URL(t, engine)) })
		})
	}
}

func fortySlowUploads(t *testing.T, url string) {
	const uploads, most = 40, 40 * 2 << 20 // 2 MiB for each, of the service and its caller
	// On a busy machine it takes minutes until all forty have come to their middle.
	s := start(t, url, func(c *app.Config) { c.UploadStall = 15 * time.Minute })
	before := held()
	var waiting, all sync.WaitGroup
	goOn := make(chan struct{})
	waiting.Add(uploads)
	defer all.Wait()
	defer close(goOn)
	for range uploads {
		all.Go(func() {
			var once sync.Once
			defer once.Do(waiting.Done) // one that is answered early is not waited for
			res, err := s.slowly(t.Context(), func() { once.Do(waiting.Done); <-goOn })
			if err != nil {
				t.Error(err)
				return
			}
			_ = res.Body.Close()
			if res.StatusCode != 200 {
				t.Errorf("got %d", res.StatusCode)
			}
		})
	}
	waiting.Wait()
	if more := held() - before; more > most {
		t.Errorf("%d bytes more are held, by service and callers together", more)
	}
	if a := s.post("/node/v1/uploads/inspect", s.form(nil, "scene.blend", demo.Scene())); a.status != 200 {
		t.Errorf("another upload: %d %v", a.status, a.body)
	}
}

// held is what this process holds, in bytes, not what tests have left to be collected; the
// peak of a whole process is measured by make bench.
func held() int64 {
	runtime.GC()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return int64(memory.HeapAlloc)
}
