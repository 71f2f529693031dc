package corpus

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"svc.example/internal/ground/sandbox"
	"svc.example/internal/render/blender"
	"svc.example/internal/work/worker"
)

// roleVariable makes a program that calls BeWorker a worker; its value is the
// configuration as JSON.
const roleVariable = "SVC_CORPUS_WORKER"

// fate is what becomes of a worker in the middle of its next frame. It is passed as a
// line on standard input.
type fate string

const (
	dies    fate = "dies"    // it is killed
	crashes fate = "crashes" // its Blenders are killed
)

// met begins the line that a worker writes when it meets its fate.
const met = "the worker meets its fate: "

// member configures a worker's process.
type member struct {
	URL, Key, Name, Work, Blender string
	Threads                       int
	Sandboxed                     bool
}

// BeWorker makes this process one of the farm's workers when it was started as one, and
// returns its exit code when the farm is gone. A program that calls Compare calls it first,
// and so does a TestMain; false says that it was not started as a worker.
func BeWorker() (code int, worker bool) {
	text := os.Getenv(roleVariable)
	if text == "" {
		return 0, false
	}
	if len(os.Args) > 1 && os.Args[1] == sandbox.ExecName {
		return sandbox.Exec(os.Args[2:]), true // the worker starts its own binary in the sandbox
	}
	if err := work(text); err != nil {
		fmt.Fprintln(os.Stderr, "corpus worker:", err)
		return 1, true
	}
	return 0, true
}

// work runs a worker until standard input ends, as it does when the farm is gone.
func work(text string) error {
	var m member
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	doom := make(chan fate, 1) // what becomes of it in its next frame
	go func() {
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			doom <- fate(lines.Text())
		}
		cancel()
	}()
	c := Config{Blender: m.Blender, Threads: m.Threads}
	if m.Sandboxed {
		box, err := openSandbox(ctx)
		if err != nil {
			return err
		}
		c.Sandbox = box
	}
	w := c.worker(m.URL, m.Key, m.Name, m.Work, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	w.Renderer = doomed{w.Renderer, doom}
	return worker.New(w).Run(ctx)
}

func openSandbox(ctx context.Context) (*sandbox.Sandbox, error) {
	self, err := sandbox.Self()
	if err != nil {
		return nil, err
	}
	return sandbox.Open(ctx, sandbox.Config{Mode: sandbox.Auto, Self: self})
}

// doomed is a renderer whose process meets its fate in the middle of the first frame.
type doomed struct {
	worker.Renderer
	fate <-chan fate
}

func (d doomed) Start(ctx context.Context, options blender.Options) (worker.Session, error) {
	s, err := d.Renderer.Start(ctx, options)
	if err != nil {
		return nil, err
	}
	return doomedSession{s, d.fate}, nil
}

type doomedSession struct {
	worker.Session
	fate <-chan fate
}

// Render renders a frame. The end comes while Blender works, or right before the frame
// is handed over.
func (s doomedSession) Render(ctx context.Context, frame int, progress func(float64)) (blender.Frame, error) {
	var meets fate
	select {
	case meets = <-s.fate:
	default:
		return s.Session.Render(ctx, frame, progress)
	}
	fmt.Fprintln(os.Stderr, met+string(meets))
	ended := make(chan struct{})
	over := make(chan struct{})
	go func() {
		defer close(over)
		select {
		case <-time.After(rand.N(100 * time.Millisecond)):
		case <-ended:
		}
		for _, p := range descendants(os.Getpid()) {
			_ = p.Kill() // one may have ended
		}
		if self, err := os.FindProcess(os.Getpid()); err == nil && meets == dies {
			_ = self.Kill()
		}
	}()
	f, err := s.Session.Render(ctx, frame, progress)
	close(ended)
	<-over
	return f, err
}

// descendants are the processes that a process has started, and those that they have.
func descendants(of int) (found []*os.Process) {
	parents := map[int]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is well-formed
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		// The name, in brackets, can hold anything.
		_, rest, _ := strings.Cut(string(text), ") ")
		fields := strings.Fields(rest)
		pid, err1 := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if len(fields) < 2 || err1 != nil {
			continue
		}
		if parent, err := strconv.Atoi(fields[1]); err == nil {
			parents[pid] = parent
		}
	}
	for pid := range parents {
		for at := parents[pid]; at > 1; at = parents[at] {
			if at != of {
				continue
			}
			if p, err := os.FindProcess(pid); err == nil {
				found = append(found, p)
			}
			break
		}
	}
	return found
}

// farm is three workers in processes of their own. The first in line is the next to die,
// the second the next to lose its Blender; a new one joins the end. So each of them loses
// a Blender once, later dies, and is not suspended for failing too often.
type farm struct {
	s       *service
	members []*process
	fates   atomic.Int64 // how many were met
}

type process struct {
	command *exec.Cmd
	in      io.WriteCloser
	armed   fate          // what will happen to it
	ready   chan struct{} // closed when the worker waits for work, or has ended
	ended   chan struct{}
}

const farmSize = 3

// openFarm returns a farm whose workers arm starts. End it with stop.
func (s *service) openFarm() *farm {
	return &farm{s: s}
}

// arm waits until all workers are ready, and tells two what will happen to them in their
// next frame.
func (f *farm) arm(ctx context.Context) error {
	f.members = slices.DeleteFunc(f.members, func(p *process) bool { return !p.alive() })
	for len(f.members) < farmSize {
		p, err := f.launch(ctx)
		if err != nil {
			return err
		}
		f.members = append(f.members, p)
	}
	for _, p := range f.members {
		select {
		case <-p.ready:
		case <-ctx.Done():
			return ctx.Err()
		}
		if !p.alive() {
			return fmt.Errorf("a worker of the farm ended at its start: see the logs in %s", f.s.folder)
		}
	}
	for i, meets := range []fate{dies, crashes} {
		p := f.members[i]
		if p.armed == meets {
			continue // it got no frame of the scene before
		}
		if _, err := fmt.Fprintln(p.in, meets); err != nil {
			return err
		}
		p.armed = meets
	}
	return nil
}

func (f *farm) launch(ctx context.Context) (*process, error) {
	work, err := f.s.place("member")
	if err != nil {
		return nil, err
	}
	name := filepath.Base(work)
	key, err := f.s.nodeKey(ctx, name)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(member{
		URL: f.s.url, Key: key, Name: name, Work: work, Blender: f.s.cfg.Blender, Threads: f.s.cfg.Threads, Sandboxed: f.s.cfg.Sandbox != nil,
	})
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	log, err := os.Create(work + ".log")
	if err != nil {
		return nil, err
	}
	p := &process{command: exec.Command(self), ready: make(chan struct{}), ended: make(chan struct{})}
	p.command.Env = append(os.Environ(), roleVariable+"="+string(text))
	if p.in, err = p.command.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.command.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := p.command.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.ended)
		f.follow(p, out, log)
		_ = p.command.Wait() // that it was killed is no news
		_ = log.Close()
	}()
	return p, nil
}

// follow copies a worker's log, and notices when it is ready and when it meets its fate.
func (f *farm) follow(p *process, out io.Reader, log io.Writer) {
	ready := false
	for lines := bufio.NewScanner(out); lines.Scan(); {
		fmt.Fprintln(log, lines.Text())
		if strings.HasPrefix(lines.Text(), met) {
			f.fates.Add(1)
		}
		if !ready && strings.Contains(lines.Text(), "the worker is ready") {
			ready = true
			close(p.ready)
		}
	}
	if !ready {
		close(p.ready)
	}
}

func (p *process) alive() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// end stops a worker and waits for it; one that was killed has ended.
func (p *process) end() {
	_ = p.in.Close()
	<-p.ended
}

func (f *farm) stop() {
	for _, p := range f.members {
		p.end()
	}
}

// render renders a quote with the farm. A new worker takes the place of the one that dies.
func (f *farm) render(ctx context.Context, quote func(context.Context) (pictures, error)) (pictures, error) {
	rendered, replaced := make(chan struct{}), make(chan error, 1)
	first := f.members[0]
	go func() {
		select {
		case <-first.ended:
			p, err := f.launch(ctx)
			if err == nil {
				f.members = append(f.members[1:], p)
			}
			replaced <- err
		case <-rendered:
			replaced <- nil
		}
	}()
	got, err := quote(ctx)
	close(rendered)
	return got, errors.Join(err, <-replaced)
}
