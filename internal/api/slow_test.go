package api_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"runtime"
	"sync"
	"testing"
	"time"

	"svc.example/internal/app"
	"svc.example/internal/db/dbtest"
	"svc.example/internal/demo"
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
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		res, err := s.slowly(ctx, func() { <-ctx.Done() })
		if err == nil { // else the connection was closed, which is as good
			_ = res.Body.Close()
			if res.StatusCode != 400 {
				t.Errorf("got %d", res.StatusCode)
			}
		}
		if ctx.Err() != nil {
			t.Error("nobody cut it off")
		}
	})
}

// TestFortySlowUploadsDisturbNobody holds forty uploads at their middle: another
// one passes, memory stays low, and then all forty end well.
func TestFortySlowUploadsDisturbNobody(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		const uploads, most = 40, 200 << 20
		s := start(t, url)
		var waiting, all sync.WaitGroup
		goOn := make(chan struct{})
		waiting.Add(uploads)
		for range uploads {
			all.Go(func() {
				var once sync.Once
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
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		if memory.HeapInuse > most {
			t.Errorf("%d bytes are in use, of service and callers together", memory.HeapInuse)
		}
		if a := s.post("/node/v1/uploads/inspect", s.form(nil, "scene.blend", demo.Scene())); a.status != 200 {
			t.Errorf("another upload: %d %v", a.status, a.body)
		}
		close(goOn)
		all.Wait()
	})
}
