package story_test

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

// The environment variables that make this binary a server or a worker, and their values.
const (
	roleVariable   = "SVC_STORY_ROLE"
	configVariable = "SVC_STORY_CONFIG"
	serverRole     = "server"
	workerRole     = "worker"
)

// serverConfig configures a server process.
type serverConfig struct {
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
	diskFull = "full"
	diskRoom = "room"
)

// serverMain serves until SIGTERM. It prints the address, and the frames that
// are held.
func serverMain() int {
	var given serverConfig
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
				full.Store(lines.Text() == diskFull)
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
		config.Webhooks = trusting(given.WebhookCA)
	}
	if !given.NoWorker {
		config.Embedded = &app.EmbeddedWorker{Renderer: &painter{before: announced(given.HoldFrom)}}
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
	g := barrierAt(from)
	return func(ctx context.Context, frame int) error {
		if frame >= from {
			fmt.Println("holds", frame)
		}
		return g.pass(ctx, frame)
	}
}

func exitWith(err error) int {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// workerConfig configures a worker process.
type workerConfig struct {
	Server, Key, WorkDir string
	HoldFrom             int
	Synthetic            bool // renders by package synthetic, quickly and not always well
	Lying                bool // fails every frame; goes with Synthetic
	Sound                bool // fails none; likewise
}

// workerMain works until SIGTERM. It prints the frames that it holds until a
// line comes in, and what becomes of its deliveries.
func workerMain() int {
	var given workerConfig
	if err := json.Unmarshal([]byte(os.Getenv(configVariable)), &given); err != nil {
		return exitWith(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	g := barrierAt(given.HoldFrom)
	go func() {
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		g.open()
	}()
	hold := func(ctx context.Context, frame int) error {
		if frame >= given.HoldFrom {
			fmt.Println("holds", frame)
		}
		return g.pass(ctx, frame)
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
	var renderer worker.Renderer = &painter{before: hold}
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
		Farm: observedFarm{farmapi.NewClient(given.Server, given.Key), report}, Renderer: renderer, WorkDir: given.WorkDir, Name: "process",
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil)), Jitter: func() float64 { return 0 },
	}).Run(ctx))
}

// observedFarm reports what the workers' API answers to each delivery, and to the
// heartbeats that lose a lease.
type observedFarm struct {
	*farmapi.Client
	report func(what string, err error)
}

func (o observedFarm) Deliver(ctx context.Context, result farmapi.FrameResult, picture io.Reader) error {
	err := o.Client.Deliver(ctx, result, picture)
	o.report("delivered", err)
	return err
}

func (o observedFarm) Heartbeat(ctx context.Context, r farmapi.HeartbeatRequest) (farmapi.HeartbeatReply, error) {
	reply, err := o.Client.Heartbeat(ctx, r)
	if len(reply.Lost) > 0 {
		o.report("lost", err)
	}
	return reply, err
}

// process is a process of this binary in a role.
type process struct {
	*exec.Cmd
	in    io.WriteCloser
	lines chan string // of its standard output; closed at its end
}

// diesWithTheTest leaves no process behind a test binary that is killed.
func diesWithTheTest() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// launch starts a process; it does not outlive the story.
func launch(t *testing.T, role string, config any) *process {
	t.Helper()
	return launchLogging(t, role, config, apptest.LogWriter(t, t.Output()))
}

// launchLogging is launch of a process that logs to log.
func launchLogging(t *testing.T, role string, config any, log io.Writer) *process {
	t.Helper()
	p, err := begin(role, config, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	return p
}

// begin starts a process that logs to log. Whoever begins it ends it.
func begin(role string, config any, log io.Writer) (*process, error) {
	text, err := json.Marshal(config)
	if err != nil {
		return nil, err
	}
	p := &process{Cmd: exec.Command(os.Args[0]), lines: make(chan string, 1000)}
	p.Env = append(os.Environ(), roleVariable+"="+role, configVariable+"="+string(text))
	p.Stderr, p.SysProcAttr = log, diesWithTheTest()
	if p.in, err = p.StdinPipe(); err != nil {
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
		defer close(p.lines)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			p.lines <- lines.Text()
		}
	}()
	return p, nil
}

// end waits for a process that ends by itself, and kills one that does not.
func (p *process) end() error {
	hangs := time.AfterFunc(await.Patience, func() { _ = p.Process.Kill() })
	defer hangs.Stop()
	return p.Wait()
}

// kill ends the process with SIGKILL and waits for it.
func (p *process) kill() {
	if p.ProcessState == nil {
		_ = p.Process.Kill()
		_ = p.Wait() // that it was killed is no news
	}
}

// await reads lines until one begins with that word, and returns its rest; ok is
// false when the process ends before.
func (p *process) await(ctx context.Context, word string) (rest string, ok bool) {
	for {
		select {
		case line, open := <-p.lines:
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
