package main

import (
	"context"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/demo"
	"svc.example/internal/ground/links"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/await"
	"svc.example/internal/test/screen"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/synthetic"
	"svc.example/internal/work/worker"
)

// slowWire is a service that does not answer an upload or a start, or stops in the middle of
// a download, for as long as the caller waits.
type slowWire struct {
	app   *app.App
	url   string
	agent string
	stops chan string // what the next connections stop at: a part of their path
	at    chan string // a connection has stopped
}

func newSlowWire(t *testing.T) *slowWire {
	t.Helper()
	s := &slowWire{stops: make(chan string, 1), at: make(chan string, 1)}
	wire := httptest.NewUnstartedServer(nil)
	s.url = "http://" + wire.Listener.Addr().String()
	var service string
	s.app, service = apptest.Start(t, app.Config{AllowSynthetic: true, PublicURL: s.url})
	to, err := url.Parse(service)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(to) },
		FlushInterval: -1,
		ErrorHandler:  func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		ModifyResponse: func(r *http.Response) error {
			if s.stopsAt(r.Request.URL.Path) {
				r.Body = &halfOf{r.Body, r.ContentLength / 2, s.waitFor(r.Request)}
			}
			return nil
		},
	}
	wire.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && s.stopsAt(r.URL.Path) {
			_, _ = io.Copy(io.Discard, r.Body) // otherwise nothing tells that the caller has left
			s.waitFor(r)()
			panic(http.ErrAbortHandler)
		}
		proxy.ServeHTTP(w, r)
	})
	wire.Start()
	t.Cleanup(wire.Close)
	s.agent = (&apptest.World{App: s.app, URL: s.url}).WorkspaceOf(t, "anna@example.org", 500).Agent.Secret
	return s
}

// stopsAt reports whether a connection has to stop here, and takes the order.
func (s *slowWire) stopsAt(path string) bool {
	select {
	case stop := <-s.stops:
		if strings.Contains(path, stop) {
			return true
		}
		s.stops <- stop
	default:
	}
	return false
}

// waitFor tells that a connection has stopped, and waits for the caller to leave.
func (s *slowWire) waitFor(r *http.Request) func() {
	return func() {
		s.at <- r.URL.Path
		<-r.Context().Done()
	}
}

// halfOf is a body that stops in the middle.
type halfOf struct {
	io.ReadCloser
	left int64
	stop func()
}

func (h *halfOf) Read(p []byte) (int, error) {
	if h.left == 0 {
		h.stop()
		return 0, io.ErrUnexpectedEOF
	}
	n, err := h.ReadCloser.Read(p[:min(int64(len(p)), h.left)])
	h.left -= int64(n)
	return n, err
}

// worker paints pictures until the test's end.
func (s *slowWire) worker(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var key identity.NewKey
	err := s.app.DB.Write(ctx, func(tx *db.Tx) (err error) {
		key, err = identity.CreateNodeKey(ctx, tx, "rack-1")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	painter := worker.New(worker.Config{
		Farm: farmapi.NewClient(s.url, key.Secret), Renderer: synthetic.Renderer{}, WorkDir: t.TempDir(), Name: "rack-1",
		Log: slog.New(slog.DiscardHandler), Jitter: rand.Float64,
	})
	ended := make(chan error, 1)
	go func() { ended <- painter.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := await.Next(t, ended, "the worker's end"); err != nil {
			t.Error(err)
		}
	})
}

// TestCtrlCSaysWhatHappensToTheJob types Ctrl-C while a scene is uploaded, while its job
// waits for a worker, and while its frames are downloaded, on two widths.
func TestCtrlCSaysWhatHappensToTheJob(t *testing.T) {
	t.Parallel()
	s := newSlowWire(t)
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "scene.blend"), demo.Scene(), 0o600); err != nil {
		t.Fatal(err)
	}
	render := func(columns uint16) (*exec.Cmd, *screen.Screen) {
		command := exec.Command(apptest.Binary(t), "render", "scene.blend", "--frames", "1-3", "--yes", "--out", "out")
		command.Dir, command.Env = folder, []string{"HOME=" + folder, "TERM=xterm-256color", "SVC_SERVER=" + s.url, "SVC_KEY=" + s.agent}
		return command, screen.Start(t, command, columns)
	}
	ends := func(columns uint16, bar string, stopped func(*screen.Screen), says ...string) {
		t.Helper()
		command, shown := render(columns)
		stopped(shown)
		shown.Type(t, "", "\x03")
		_ = command.Wait() // the exit code says it
		shown.End(t)
		fits(t, moved.ReplaceAllString(strings.ReplaceAll(shown.Text(), "\x03", ""), "\n"), columns) // the key is echoed, and not seen
		seen := shown.Seen()
		if code := command.ProcessState.ExitCode(); code != 130 {
			t.Errorf("it ends with %d", code)
		}
		before, after, found := strings.Cut(seen, "svc: error: ")
		lines := strings.Split(strings.TrimSpace(before), "\n")
		if last := len(lines) - 1; !found || !strings.HasPrefix(lines[last], bar) || last > 0 && strings.HasPrefix(lines[last-1], bar) {
			t.Errorf("the bar is not the one line before the message:\n%s", seen)
		}
		after = strings.Join(strings.Fields(after), " ")
		for _, words := range says {
			if !strings.Contains(after, words) {
				t.Errorf("%q is not said:\n%s", words, seen)
			}
		}
	}
	stoppedAt := func(path string) func(*screen.Screen) {
		s.stops <- path
		return func(*screen.Screen) { await.Next(t, s.at, path) }
	}
	for _, columns := range []uint16{80, 120} {
		ends(columns, "upload", stoppedAt("/inspect"), "nothing was spent", "Run the same command again")
	}
	for _, columns := range []uint16{80, 120} {
		ends(columns, "frames", func(shown *screen.Screen) { shown.Await(t, "no worker is online") },
			"continues to render", "svc render --job JOB-", "svc cancel JOB-", "--server "+s.url)
	}
	s.worker(t)
	for _, columns := range []uint16{80, 120} {
		ends(columns, "download", stoppedAt(links.DownloadPath), "the job is rendered", "To finish the download", "svc render --job JOB-")
	}
	command, shown := render(80)
	_ = command.Wait() // the exit code says it
	if shown.End(t); command.ProcessState.ExitCode() != 0 {
		t.Errorf("the same command does not finish it:\n%s", shown.Seen())
	}
}

// TestASecondCtrlCEndsRenderAtOnce types it while the answer to the start is waited for, which
// the first one does not end.
func TestASecondCtrlCEndsRenderAtOnce(t *testing.T) {
	t.Parallel()
	s := newSlowWire(t)
	s.stops <- "/start"
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "scene.blend"), demo.Scene(), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(apptest.Binary(t), "render", "scene.blend", "--frames", "1-3", "--yes")
	command.Dir, command.Env = folder, []string{"HOME=" + folder, "TERM=xterm-256color", "SVC_SERVER=" + s.url, "SVC_KEY=" + s.agent}
	shown := screen.Start(t, command, 80)
	await.Next(t, s.at, "the start")
	shown.Type(t, "", "\x03")
	shown.Type(t, "whether you pay", "\x03")
	_ = command.Wait() // how it ended says it
	shown.End(t)
	if how, ok := command.ProcessState.Sys().(syscall.WaitStatus); !ok || how.Signal() != syscall.SIGINT {
		t.Errorf("it ends with %v:\n%s", command.ProcessState, shown.Seen())
	}
}
