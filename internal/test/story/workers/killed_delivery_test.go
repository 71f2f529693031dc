package workers_test

import (
	"io"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
	"time"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/test/await"
	"svc.example/internal/test/story"
	"svc.example/internal/work/farmapi"
)

// TestAWorkerThatIsKilledWhileItDeliversLosesNoFrame: half of a picture has arrived when the
// worker's process dies. Nothing of it counts, and another worker renders the frame.
func TestAWorkerThatIsKilledWhileItDeliversLosesNoFrame(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		config.LeaseLife = 5 * time.Second // longer than any beat is late
		pass := story.Moved(&config)
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		server, err := url.Parse(svc.URL)
		if err != nil {
			t.Fatal(err)
		}
		delivering, killed := make(chan bool, 1), make(chan struct{})
		var once sync.Once
		between := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(server)
			if r.In.URL.Path == farmapi.PathDeliver {
				r.Out.Body = &cutBody{ReadCloser: r.In.Body, most: 64, at: func() {
					once.Do(func() { delivering <- true })
					<-killed
				}}
			}
		}}
		way := httptest.NewServer(between)
		t.Cleanup(way.Close)
		doomed := story.Launch(t, story.WorkerRole, story.WorkerConfig{Server: way.URL, Key: svc.NodeKey().Secret, WorkDir: t.TempDir(), HoldFrom: 1000})
		job := c.StartFrames(2)
		await.Next(t, delivering, "the worker to deliver")
		doomed.Kill()
		close(killed)
		pass(time.Minute)
		svc.Worker(&story.Painter{})
		c.Fetch(c.Await(job.JobID, client.StatusCompleted), 2)
		svc.SettledOnce(c, 2)
	})
}

// cutBody calls at before it gives more than the first bytes of a body.
type cutBody struct {
	io.ReadCloser
	most int
	at   func()
}

func (b *cutBody) Read(p []byte) (int, error) {
	if b.most == 0 {
		b.at()
		return 0, io.ErrUnexpectedEOF
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.most)])
	b.most -= n
	return n, err
}
