package processes_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/demo"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/await"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/story"
	"svc.example/internal/work/wallet"
)

// stagedProxy is between svc render and a service. It ends the command at one
// call, either before the service hears of the call or once it has answered.
type stagedProxy struct {
	http.Handler // to the service

	mu      sync.Mutex
	stage   string // part of the call's method and path; "" lets all calls through
	after   bool
	reached func() // ends the command
}

func (p *stagedProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	now := p.stage != "" && strings.Contains(r.Method+" "+r.URL.Path, p.stage)
	if now {
		p.stage = ""
	}
	p.mu.Unlock()
	if !now {
		p.Handler.ServeHTTP(w, r)
		return
	}
	if p.after {
		// The service's work is done, even if its caller is gone.
		p.Handler.ServeHTTP(httptest.NewRecorder(), r.WithContext(context.WithoutCancel(r.Context())))
	}
	p.reached()
	panic(http.ErrAbortHandler)
}

// at arms the proxy.
func (p *stagedProxy) at(stage string, after bool, reached func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stage, p.after, p.reached = stage, after, reached
}

// renderCommand runs svc render in a folder, for a caller of one service.
type renderCommand struct {
	t      *testing.T
	svc    *story.Service
	caller story.Caller
	proxy  *stagedProxy
	server string
	folder string
}

func startRenderCommand(t *testing.T) *renderCommand {
	t.Helper()
	proxy := &stagedProxy{}
	front := httptest.NewServer(proxy)
	config := app.Config{
		Listen: story.FreeAddress(t), Data: t.TempDir(), Database: dbtest.URL(t, "sqlite"), Log: story.LogOf(t), PublicURL: front.URL,
		Embedded: &app.EmbeddedWorker{Renderer: &story.Painter{}},
	}
	svc := story.Start(t, config)
	t.Cleanup(func() { front.CloseClientConnections(); front.Close() })
	target, err := url.Parse(svc.URL)
	if err != nil {
		t.Fatal(err)
	}
	forward := httputil.NewSingleHostReverseProxy(target)
	forward.FlushInterval = -1
	forward.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }
	proxy.Handler = forward
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, demo.Filename), demo.Scene(), 0o600); err != nil {
		t.Fatal(err)
	}
	return &renderCommand{t: t, svc: svc, caller: svc.Caller(story.Credit), proxy: proxy, server: front.URL, folder: folder}
}

// command is svc render of frames 1 to 3 into the folder out, with the price accepted.
func (c *renderCommand) command(arguments ...string) (*exec.Cmd, *bytes.Buffer) {
	arguments = append([]string{"render", demo.Filename, "--out", "out", "--yes"}, arguments...)
	command := exec.Command(apptest.Binary(c.t), arguments...)
	command.Dir = c.folder
	command.Env = append(os.Environ(), "SVC_SERVER="+c.server, "SVC_KEY="+c.caller.Agent.Secret, "XDG_CONFIG_HOME="+c.folder)
	command.SysProcAttr = story.DiesWithTheTest()
	var said bytes.Buffer
	command.Stdout, command.Stderr = &said, &said
	return command, &said
}

// endedBy runs the command and sends it a signal when the proxy comes to the stage.
func (c *renderCommand) endedBy(signal syscall.Signal, stage string, after bool, frames string) (said string, code int) {
	c.t.Helper()
	command, text := c.command("--frames", frames)
	started, ended := make(chan struct{}), make(chan struct{})
	c.proxy.at(stage, after, func() {
		<-started
		_ = command.Process.Signal(signal)
		if signal == syscall.SIGKILL {
			<-ended // its answer must not come before its end
		}
	})
	if err := command.Start(); err != nil {
		c.t.Fatal(err)
	}
	close(started)
	err := command.Wait()
	close(ended)
	exit, ok := errors.AsType[*exec.ExitError](err)
	if err != nil && !ok {
		c.t.Fatal(err)
	}
	if ok {
		code = exit.ExitCode()
	}
	return text.String(), code
}

// goesOn gives the same command again, which must end well, with everything paid once.
func (c *renderCommand) goesOn() {
	c.t.Helper()
	command, said := c.command("--frames", "1-3")
	if err := command.Run(); err != nil {
		c.t.Fatalf("the same command again: %v\n%s", err, said)
	}
	c.svc.SettledOnce(c.caller, 3)
	c.holds("out", 3)
}

// holds checks that a folder has so many frames, none half, and a receipt that verifies.
func (c *renderCommand) holds(folder string, frames int) {
	c.t.Helper()
	folder = filepath.Join(c.folder, folder)
	pictures, err := filepath.Glob(filepath.Join(folder, "frame_*.png"))
	if err != nil || len(pictures) != frames {
		c.t.Errorf("%s has %v, %v", folder, pictures, err)
	}
	verify := exec.Command(apptest.Binary(c.t), "verify", filepath.Join(folder, "receipt.json"))
	if said, err := verify.CombinedOutput(); err != nil {
		c.t.Errorf("verify: %v\n%s", err, said)
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		c.t.Error(err)
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") || strings.HasSuffix(entry.Name(), ".part") {
			c.t.Errorf("%s is left over", entry.Name())
		}
	}
}

// paid checks what the caller has paid in all, in cents, and that nothing is held.
func (c *renderCommand) paid(cents int64) {
	c.t.Helper()
	c.svc.Read(func(ctx context.Context, tx *db.Tx) error {
		balance, err := wallet.Get(ctx, tx, c.caller.Workspace)
		if want := (wallet.Balance{AvailableCents: story.Credit - cents}); balance != want {
			c.t.Errorf("the wallet has %+v, want %+v", balance, want)
		}
		return err
	})
}

// stages are the calls of svc render, in their order.
var stages = []struct {
	name, call string
	after      bool
}{
	{"the upload", "/uploads/inspect", false},
	{"the quote", "/uploads/inspect", true},
	{"the start", "/start", false},
	{"the answer to the start", "/start", true},
	{"the first read of the job", "/events", false},
	{"the link", "/download", false},
	{"the receipt", "/receipt", false},
	{"the proof", "/proof", false},
	{"the keys", "/signing-keys", false},
}

func TestARenderThatIsKilledAnywhereGoesOnAndPaysOnce(t *testing.T) {
	t.Parallel()
	for _, stage := range stages {
		t.Run(stage.name, func(t *testing.T) {
			t.Parallel()
			c := startRenderCommand(t)
			if said, code := c.endedBy(syscall.SIGKILL, stage.call, stage.after, "1-3"); code != -1 {
				t.Fatalf("it was not killed, but ended with %d:\n%s", code, said)
			}
			c.goesOn()
		})
	}
}

// TestARenderThatIsKilledWhileItUnpacksLeavesNoHalfFrame kills the command as soon as
// the first of many frames is there.
func TestARenderThatIsKilledWhileItUnpacksLeavesNoHalfFrame(t *testing.T) {
	t.Parallel()
	const frames = 60
	c := startRenderCommand(t)
	out := filepath.Join(c.folder, "out")
	command, _ := c.command("--frames", fmt.Sprintf("1-%d", frames))
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the first frame", func() bool {
		_, err := os.Stat(filepath.Join(out, "frame_0001.png"))
		return err == nil
	})
	if err := command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = command.Wait() // killed
	there, err := filepath.Glob(filepath.Join(out, "frame_*.png"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d of %d frames were there", len(there), frames)
	before := map[string][]byte{}
	for _, path := range there {
		if before[path], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	if again, said := c.command("--frames", fmt.Sprintf("1-%d", frames)); again.Run() != nil {
		t.Fatalf("the same command again:\n%s", said)
	}
	c.svc.SettledOnce(c.caller, frames)
	c.holds("out", frames)
	for path, text := range before {
		if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, text) {
			t.Errorf("%s was not whole: %d bytes, then %d, %v", path, len(text), len(now), err)
		}
	}
}

func TestCtrlCSaysThatNothingIsLostAndHowToGoOn(t *testing.T) {
	t.Parallel()
	for i, stage := range stages {
		t.Run(stage.name, func(t *testing.T) {
			t.Parallel()
			c := startRenderCommand(t)
			said, code := c.endedBy(syscall.SIGINT, stage.call, stage.after, "1-3")
			want := "nothing is lost. To follow and download the job, run the same command again"
			switch {
			case i < 2: // before the start
				want = "nothing was spent. Run the same command again"
			case i > 4: // the job has ended
				want = "the job is rendered, and its frames stay at the service. To finish the download, run the same command again"
			}
			if code != 130 || !strings.Contains(said, want) {
				t.Errorf("exit code %d, want 130 and %q:\n%s", code, want, said)
			}
			if i >= 2 {
				if at := strings.Index(said, "svc render --job JOB-"); at < 0 {
					t.Errorf("there is no command to continue with:\n%s", said)
				}
			}
			c.goesOn()
		})
	}
}

// TestAListOfFramesThatIsKilledAroundItsStartIsPaidOnce orders frames that are no range, which
// are one job.
func TestAListOfFramesThatIsKilledAroundItsStartIsPaidOnce(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]bool{"before the start": false, "after it": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := startRenderCommand(t)
			if said, code := c.endedBy(syscall.SIGKILL, "/start", after, "1,3,7-8"); code != -1 {
				t.Fatalf("it was not killed, but ended with %d:\n%s", code, said)
			}
			if command, said := c.command("--frames", "1,3,7-8"); command.Run() != nil {
				t.Fatalf("the same command again:\n%s", said)
			}
			c.svc.SettledOnce(c.caller, 4)
			c.holds("out", 4)
		})
	}
}

func TestASecondJobIntoAFolderHasItsOwn(t *testing.T) {
	t.Parallel()
	c := startRenderCommand(t)
	c.goesOn()
	receipt, err := os.ReadFile(filepath.Join(c.folder, "out", "receipt.json"))
	if err != nil {
		t.Fatal(err)
	}
	// Once more the same: nothing is ordered.
	command, said := c.command("--frames", "1-3")
	if err := command.Run(); err != nil || !strings.Contains(said.String(), "already rendered") {
		t.Fatalf("%v\n%s", err, said)
	}
	c.svc.SettledOnce(c.caller, 3)
	// Other frames are another job, in a folder of its own.
	command, said = c.command("--frames", "1,3,7-8")
	if err := command.Run(); err != nil || !strings.Contains(said.String(), "$0.04 for 4 frames") {
		t.Fatalf("%v\n%s", err, said)
	}
	jobs, err := filepath.Glob(filepath.Join(c.folder, "out", "JOB-*"))
	if err != nil || len(jobs) != 1 {
		t.Fatalf("%v, %v", jobs, err)
	}
	c.holds(filepath.Join("out", filepath.Base(jobs[0])), 4)
	if now, err := os.ReadFile(filepath.Join(c.folder, "out", "receipt.json")); err != nil || !bytes.Equal(now, receipt) {
		t.Errorf("the first receipt was changed: %v", err)
	}
	// And once more these: nothing is ordered either.
	if command, said := c.command("--frames", "3,1,7-8,1"); command.Run() != nil || !strings.Contains(said.String(), "already rendered") {
		t.Errorf("%s", said)
	}
	c.paid(7)
}
