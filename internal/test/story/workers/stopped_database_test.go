package workers_test

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/await"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/story"
)

// line is the way to a server, which a story cuts and restores.
type line struct {
	t        *testing.T
	server   string
	listener net.Listener
	mu       sync.Mutex
	open     []net.Conn
}

// lineTo listens for connections to a server.
func lineTo(t *testing.T, server string) *line {
	t.Helper()
	l := &line{t: t, server: server}
	l.restore()
	t.Cleanup(l.cut)
	return l
}

// restore lets connections through.
func (l *line) restore() {
	l.t.Helper()
	address := "127.0.0.1:0"
	if l.listener != nil {
		address = l.listener.Addr().String()
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		l.t.Fatal(err)
	}
	l.listener = listener
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", l.server)
			if err != nil {
				_ = from.Close()
				continue
			}
			l.mu.Lock()
			l.open = append(l.open, from, to)
			l.mu.Unlock()
			for _, pair := range [][2]net.Conn{{from, to}, {to, from}} {
				go func() {
					_, _ = io.Copy(pair[0], pair[1])
					_ = pair[0].Close()
				}()
			}
		}
	}()
}

// cut ends all connections, and refuses new ones.
func (l *line) cut() {
	_ = l.listener.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.open {
		_ = c.Close()
	}
	l.open = nil
}

// logBuffer keeps a log. It is safe for concurrent use.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// TestAStoppedDatabaseFailsNoJobAndBlamesNobody: its database is away for longer than a lease
// lives while two workers render. Callers are told to come back, the log says so once, and
// the workers finish what they have.
func TestAStoppedDatabaseFailsNoJobAndBlamesNobody(t *testing.T) {
	t.Parallel()
	address, err := url.Parse(dbtest.URL(t, "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	way := lineTo(t, address.Host)
	address.Host = way.listener.Addr().String()
	var log logBuffer
	config := app.Config{Listen: story.FreeAddress(t), Data: t.TempDir(), Database: address.String(), Log: apptest.Logger(t, io.MultiWriter(t.Output(), &log))}
	pass := story.Moved(&config)
	svc := story.Open(t, config)
	svc.Lone = true
	svc.Serve()
	c := svc.Caller(story.Credit)
	finish := rendersThrough(t, svc, c)
	before := len(log.String())
	way.cut()
	pass(25 * time.Second)
	status := func(path, key string) (int, http.Header, string) {
		got := story.Do(t, story.Request(t, http.MethodGet, svc.URL+path, key, ""))
		return got.Status, got.Header, string(got.Body)
	}
	await.Until(t, "the probe to notice", func() bool {
		code, _, _ := status("/readyz", "")
		return code == http.StatusServiceUnavailable
	})
	for range 5 {
		if code, header, body := status("/v1/wallet", c.Agent.Secret); code != http.StatusServiceUnavailable || header.Get("Retry-After") == "" || !strings.Contains(body, `"unavailable"`) {
			t.Errorf("during the outage the wallet answers %d %v: %s", code, header, body)
		}
	}
	way.restore()
	await.Until(t, "the probe to succeed", func() bool {
		code, _, _ := status("/readyz", "")
		return code == http.StatusOK
	})
	await.Until(t, "the log to tell of the end", func() bool { return strings.Contains(log.String(), "the store answers again") })
	during := log.String()[before:]
	if n := strings.Count(during, "level=ERROR"); n > 1 {
		t.Errorf("the log has %d errors of one outage:\n%s", n, during)
	}
	finish()
}

// rendersThrough has two workers render a frame each of a job, and hold them while an outage lasts.
// finish lets them deliver: the job completes, no try has failed, and each frame was rendered once.
func rendersThrough(t *testing.T, svc *story.Service, c story.Caller) (finish func()) {
	t.Helper()
	g, one, other := story.BarrierAt(1), &story.Painter{}, &story.Painter{}
	one.Before, other.Before = g.Pass, g.Pass
	svc.Worker(one)
	svc.Worker(other)
	job := c.StartFrames(2)
	for range 2 {
		if _, err := g.Await(story.Patient(t)); err != nil {
			t.Fatal(err)
		}
	}
	return func() {
		t.Helper()
		g.Open()
		c.Fetch(c.Await(job.JobID, client.StatusCompleted), 2)
		if failed := svc.FailedTries(job.JobID); failed != 0 {
			t.Errorf("the log of the job tells of %d failed tries", failed)
		}
		if painted := slices.Concat(one.Frames(), other.Frames()); len(painted) != 2 {
			t.Errorf("frames %v were rendered, each once was enough", painted)
		}
		svc.SettledOnce(c, 2)
	}
}
