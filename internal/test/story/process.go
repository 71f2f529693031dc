package story

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"svc.example/internal/app"
	"svc.example/internal/ground/blob"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/await"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/synthetic"
	"svc.example/internal/work/worker"
)

// Supervise starts a server, and again when it was killed, as an operator's service
// manager does, until stop, which says whether it has been killed before. It does
// not outlive the story.
func Supervise(t *testing.T, config ServerConfig) (stop func() (killed bool)) {
	t.Helper()
	stopping, ended := make(chan struct{}), make(chan bool, 1)
	go func() { ended <- keepUp(t, config, stopping) }()
	stop = sync.OnceValue(func() bool {
		close(stopping)
		return <-ended
	})
	t.Cleanup(func() { stop() })
	return stop
}

func keepUp(t *testing.T, config ServerConfig, stopping <-chan struct{}) (killed bool) {
	for {
		p, err := begin(ServerRole, config, apptest.LogWriter(t, t.Output()))
		if err != nil {
			t.Error(err)
			return killed
		}
		died := make(chan error, 1)
		go func() { died <- p.Wait() }()
		select {
		case <-stopping:
			_ = p.Process.Kill() // the store must bear that too
			<-died
			return killed
		case err := <-died:
			if !wasKilled(err) {
				t.Errorf("the server ended unasked: %v", err)
				return killed
			}
			killed, config.KillAfter = true, 0
		}
	}
}

func wasKilled(err error) bool {
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// The environment variables that make this binary a server or a worker, and their values.
const (
	roleVariable   = "SVC_STORY_ROLE"
	configVariable = "SVC_STORY_CONFIG"
	ServerRole     = "server"
	WorkerRole     = "worker"
)

// ServerConfig configures a server process.
type ServerConfig struct {
	Listen, Data, Database, Blobs string
	LeaseLife                     time.Duration
	KillAfter                     int64 // commits after which it kills itself; 0 = never
	HoldFrom                      int   // the first frame that its embedded worker never finishes; 0 = none
	NoWorker                      bool
	WebhookCA                     string // PEM of whom receivers on this machine have their certificates by
	AllowSynthetic                bool
	Skew                          time.Duration // of its clock; a line of another on its standard input changes it
}

// Lines on a server's standard input that fill its disk, and make room again.
const (
	DiskFull = "full"
	DiskRoom = "room"
)

// serverMain serves until SIGTERM. It prints the address, and the frames that
// are held.
func serverMain() int {
	var given ServerConfig
	if err := json.Unmarshal([]byte(os.Getenv(configVariable)), &given); err != nil {
		return exitWith(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	var commits, skew atomic.Int64
	var full atomic.Bool
	skew.Store(int64(given.Skew))
	go func() {
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			if d, err := time.ParseDuration(lines.Text()); err == nil {
				skew.Store(int64(d))
			} else {
				full.Store(lines.Text() == DiskFull)
			}
		}
	}()
	config := app.Config{
		Listen: given.Listen, Data: given.Data, Database: given.Database, Blobs: given.Blobs, LeaseLife: given.LeaseLife, AllowSynthetic: given.AllowSynthetic, Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
		Announce: func(address string) { fmt.Println("listens", address) },
		Skew:     func() time.Duration { return time.Duration(skew.Load()) },
		AfterCommit: func() {
			if commits.Add(1) == given.KillAfter {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {} // nothing more happens in this process
			}
		},
	}
	if given.WebhookCA != "" {
		config.Webhooks = Trusting(given.WebhookCA)
	}
	if !given.NoWorker {
		config.Embedded = &app.EmbeddedWorker{Renderer: &Painter{Before: announced(given.HoldFrom)}}
	}
	opened, err := app.Open(ctx, config)
	if err != nil {
		return exitWith(err)
	}
	opened.Blobs = filling(opened.Blobs, &full)
	return exitWith(errors.Join(opened.Serve(ctx), opened.Close()))
}

// filling is a store whose disk is full at times: writes then fail as the system's do.
func filling(store blob.Store, full *atomic.Bool) blob.Store {
	if linker, ok := store.(blob.Linker); ok {
		return fillingLinker{linker, full}
	}
	return fillingStore{store, full}
}

type fillingStore struct {
	blob.Store
	full *atomic.Bool
}

func (s fillingStore) Create(ctx context.Context, key string) (blob.Writer, error) {
	w, err := s.Store.Create(ctx, key)
	return fillingWriter{w, s.full}, err
}

// fillingLinker is a fillingStore with links; what goes by links meets no full disk.
type fillingLinker struct {
	blob.Linker
	full *atomic.Bool
}

func (s fillingLinker) Create(ctx context.Context, key string) (blob.Writer, error) {
	return fillingStore{s.Linker, s.full}.Create(ctx, key)
}

type fillingWriter struct {
	blob.Writer
	full *atomic.Bool
}

func (w fillingWriter) Write(p []byte) (int, error) {
	if w.full.Load() {
		return 0, &os.PathError{Op: "write", Path: "blob", Err: syscall.ENOSPC}
	}
	return w.Writer.Write(p)
}

// announced prints the frames from one number on and holds them.
func announced(from int) func(context.Context, int) error {
	if from == 0 {
		return nil
	}
	g := BarrierAt(from)
	return func(ctx context.Context, frame int) error {
		if frame >= from {
			fmt.Println("holds", frame)
		}
		return g.Pass(ctx, frame)
	}
}

func exitWith(err error) int {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// WorkerConfig configures a worker process.
type WorkerConfig struct {
	Server, Key, WorkDir string
	HoldFrom             int
	Synthetic            bool // renders by package synthetic, quickly and not always well
	Lying                bool // fails every frame; goes with Synthetic
	Sound                bool // fails none; likewise
}

// workerMain works until SIGTERM. It prints the frames that it holds until a
// line comes in, and what becomes of its deliveries.
func workerMain() int {
	var given WorkerConfig
	if err := json.Unmarshal([]byte(os.Getenv(configVariable)), &given); err != nil {
		return exitWith(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	g := BarrierAt(given.HoldFrom)
	go func() {
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		g.Open()
	}()
	hold := func(ctx context.Context, frame int) error {
		if frame >= given.HoldFrom {
			fmt.Println("holds", frame)
		}
		return g.Pass(ctx, frame)
	}
	report := func(what string, err error) {
		code := "ok"
		if refusal, ok := errors.AsType[*farmapi.Error](err); ok {
			code = refusal.Code
		} else if err != nil {
			code = "unknown"
		}
		fmt.Println(what, code)
	}
	var renderer worker.Renderer = &Painter{Before: hold}
	if given.Synthetic {
		faults := map[synthetic.Fault]float64{synthetic.Crash: 0.01, synthetic.Half: 0.01}
		if given.Sound {
			faults = nil
		}
		if given.Lying {
			faults = map[synthetic.Fault]float64{synthetic.Crash: 1}
		}
		renderer = synthetic.Renderer{FrameTime: 30 * time.Millisecond, Jitter: 0.9, Faults: faults}
	}
	return exitWith(worker.New(worker.Config{
		Farm: ObservedFarm{farmapi.NewClient(given.Server, given.Key), report}, Renderer: renderer, WorkDir: given.WorkDir, Name: "process",
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil)), Jitter: func() float64 { return 0 },
	}).Run(ctx))
}

// ObservedFarm reports what the workers' API answers to each delivery, and to the
// heartbeats that lose a lease.
type ObservedFarm struct {
	*farmapi.Client
	Report func(what string, err error)
}

// Deliver reports what the API answers.
func (o ObservedFarm) Deliver(ctx context.Context, result farmapi.FrameResult, picture io.Reader, outputs ...io.Reader) error {
	err := o.Client.Deliver(ctx, result, picture, outputs...)
	o.Report("delivered", err)
	return err
}

// Heartbeat reports what the API answers where it takes a lease.
func (o ObservedFarm) Heartbeat(ctx context.Context, r farmapi.HeartbeatRequest) (farmapi.HeartbeatReply, error) {
	reply, err := o.Client.Heartbeat(ctx, r)
	if len(reply.Lost) > 0 {
		o.Report("lost", err)
	}
	return reply, err
}

// Process is a process of this binary in a role.
type Process struct {
	*exec.Cmd
	In    io.WriteCloser
	Lines chan string // of its standard output; closed at its end
}

// DiesWithTheTest leaves no process when a test binary is killed.
func DiesWithTheTest() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// Launch starts a process; it does not outlive the story.
func Launch(t *testing.T, role string, config any) *Process {
	t.Helper()
	return LaunchLogging(t, role, config, apptest.LogWriter(t, t.Output()))
}

// LaunchLogging is launch of a process that logs to log.
func LaunchLogging(t *testing.T, role string, config any, log io.Writer) *Process {
	t.Helper()
	p, err := begin(role, config, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p
}

// begin starts a process that logs to log. The caller ends it.
func begin(role string, config any, log io.Writer) (*Process, error) {
	text, err := json.Marshal(config)
	if err != nil {
		return nil, err
	}
	p := &Process{Cmd: exec.Command(os.Args[0]), Lines: make(chan string, 1000)}
	p.Env = append(os.Environ(), roleVariable+"="+role, configVariable+"="+string(text))
	p.Stderr, p.SysProcAttr = log, DiesWithTheTest()
	if p.In, err = p.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.Lines)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			p.Lines <- lines.Text()
		}
	}()
	return p, nil
}

// End waits for a process that ends on its own, and kills one that does not.
func (p *Process) End() error {
	hangs := time.AfterFunc(await.Patience, func() { _ = p.Process.Kill() })
	defer hangs.Stop()
	return p.Wait()
}

// Kill ends the process with SIGKILL and waits for it.
func (p *Process) Kill() {
	if p.ProcessState == nil {
		_ = p.Process.Kill()
		_ = p.Wait() // that it was killed is no news
	}
}

// Await reads lines until one begins with that word, and returns its rest; ok is
// false when the process ends before.
func (p *Process) Await(ctx context.Context, word string) (rest string, ok bool) {
	for {
		select {
		case line, open := <-p.Lines:
			if !open {
				return "", false
			}
			if rest, ok = strings.CutPrefix(line, word+" "); ok {
				return rest, true
			}
		case <-ctx.Done():
			return "", false
		}
	}
}
