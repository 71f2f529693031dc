package scale

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"svc.example/bench/rounds"
	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/synthetic"
	"svc.example/internal/work/wallet"
	"svc.example/internal/work/worker"
)

// server is svc serve in a process of its own, and what a caller and workers need.
type server struct {
	b         *rounds.Run
	process   *exec.Cmd
	store     app.Config   // opens the same store in this process, for keys and audit
	drop      func() error // removes the database; call it after stop
	free      func() error // ends what confine has begun; nil before
	url       string
	client    *client.Client
	workspace string
	account   string   // an account key, for watchers
	nodes     []string // node keys, one for each worker
	scene     string   // path of the .blend

	accounts   []string // more account keys of the same workspace
	hostile    []string // agent keys of the workspace that attacks; see makeHostile
	hostileJob string
	proof      string // path of the page of a receipt
}

// serve makes the store and its keys and starts the server with limits, which are flags.
// The caller ends it with stop.
func serve(ctx context.Context, b *rounds.Run, engine string, limits ...string) (s *server, err error) {
	s = &server{b: b, store: app.Config{Log: slog.New(slog.DiscardHandler)}, drop: func() error { return nil }}
	if s.store.Data, err = b.Dir("scale-"); err != nil {
		return nil, err
	}
	if engine == "postgres" {
		if s.store.Database, s.drop, err = b.Database(ctx, engine); err != nil {
			return nil, err
		}
	}
	if s.scene, err = b.Scene(ctx, "scale.blend", "scale.py"); err != nil {
		return nil, err
	}
	agent, err := s.prepare(ctx)
	if err == nil {
		err = s.launch(ctx, limits)
	}
	if err == nil {
		s.client, err = client.New(s.url, agent)
	}
	if err != nil {
		return nil, errors.Join(err, s.drop())
	}
	return s, nil
}

// prepare makes the keys directly in the store, before the server runs.
func (s *server) prepare(ctx context.Context) (agent string, err error) {
	service, err := app.Open(ctx, s.store)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, service.Close()) }()
	err = service.DB.Write(ctx, func(tx *db.Tx) error {
		p, err := identity.CreateWorkspace(ctx, tx, "scale@example.com")
		if err != nil {
			return err
		}
		agentKey, err := identity.CreateAgentKey(ctx, tx, p.WorkspaceID, identity.AgentTerms{Name: "scale"})
		if err != nil {
			return err
		}
		account, err := identity.CreateAccountKey(ctx, tx, p.WorkspaceID, "scale")
		if err != nil {
			return err
		}
		agent, s.account, s.workspace = agentKey.Secret, account.Secret, p.WorkspaceID
		for len(s.nodes) < scaleWorkers {
			node, err := identity.CreateNodeKey(ctx, tx, "scale")
			if err != nil {
				return err
			}
			s.nodes = append(s.nodes, node.Secret)
		}
		return errors.Join(err, wallet.Credit(ctx, tx, p.WorkspaceID, "scale", credit))
	})
	return agent, err
}

// launch builds svc, starts it and waits for the line with its address.
func (s *server) launch(ctx context.Context, limits []string) error {
	binary := filepath.Join(s.b.Folder, "svc")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/svc").CombinedOutput(); err != nil {
		return fmt.Errorf("build svc: %w: %s", err, out)
	}
	s.process = exec.CommandContext(context.WithoutCancel(ctx), binary, "serve", "--listen", "127.0.0.1:0", "--worker", "none", "--allow-synthetic",
		"--data", s.store.Data)
	s.process.Args = append(s.process.Args, limits...)
	if s.store.Database != "" {
		s.process.Args = append(s.process.Args, "--database", s.store.Database)
	}
	s.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // it does not outlive this one
	log, err := os.Create(filepath.Join(s.store.Data, "service.log"))
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	s.process.Stderr = log
	out, err := s.process.StdoutPipe()
	if err != nil {
		return err
	}
	if err := s.process.Start(); err != nil {
		return err
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if url, found := strings.CutPrefix(lines.Text(), "svc listens on "); found {
			s.url = url
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return nil
		}
	}
	return errors.Join(errors.New("svc serve ended before it listened"), s.process.Wait())
}

// confine lets the process have so many cores; 0 = all of the machine's.
func (s *server) confine(cores float64) (err error) {
	if cores > 0 {
		s.free, err = rounds.Confine(s.process.Process.Pid, cores)
	}
	return err
}

// stop ends the server as an operator does, waits for it and removes its database.
func (s *server) stop() error {
	err := errors.Join(s.process.Process.Signal(syscall.SIGTERM), s.process.Wait(), s.drop())
	if s.free != nil {
		err = errors.Join(err, s.free())
	}
	return err
}

// audit checks the whole store, and returns each breach as an error.
func (s *server) audit(ctx context.Context) (err error) {
	service, err := app.Open(ctx, s.store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, service.Close()) }()
	found, err := service.Audit(ctx)
	for _, breach := range found.Breaches {
		err = errors.Join(err, fmt.Errorf("breach of %q at %s: %s", breach.Rule, breach.Subject, breach.Detail))
	}
	return err
}

// startWorkers starts n workers that render nothing, and returns when all of them have
// registered; stop ends them and waits. Without that wait, the first frames would be
// rendered by the few that were first.
func (s *server) startWorkers(ctx context.Context, n int, frameTime time.Duration) (stop func(), err error) {
	root, err := s.b.Dir("workers-")
	if err != nil {
		return nil, err
	}
	working, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	stop = func() { cancel(); all.Wait() }
	there := make(chan struct{}, n)
	failed := make(chan error, n)
	for i := range n {
		w := worker.New(worker.Config{
			Farm:     registered{farmapi.NewClient(s.url, s.nodes[i]), there},
			Renderer: synthetic.Renderer{FrameTime: frameTime, Jitter: 0.5},
			WorkDir:  filepath.Join(root, fmt.Sprint(i)), Name: fmt.Sprint("scale-", i), Log: slog.New(slog.DiscardHandler),
		})
		all.Go(func() {
			if err := w.Run(working); err != nil {
				failed <- err
			}
		})
	}
	for range n {
		select {
		case <-there:
		case err := <-failed:
			stop()
			return nil, err
		case <-ctx.Done():
			stop()
			return nil, ctx.Err()
		}
	}
	return stop, nil
}

// registered wraps the workers' API and reports on there when a worker has registered.
type registered struct {
	worker.Farm
	there chan<- struct{}
}

// Register implements worker.Farm. A worker may register again, which is not reported.
func (p registered) Register(ctx context.Context, r farmapi.RegisterRequest) (farmapi.RegisterReply, error) {
	reply, err := p.Farm.Register(ctx, r)
	if err == nil {
		select {
		case p.there <- struct{}{}:
		default: // this worker has been counted
		}
	}
	return reply, err
}

// changedAt precedes the time of the job's last change in its events. Finding it as
// bytes costs far less than decoding: a thousand watchers share the machine with the
// server that they measure.
var changedAt = []byte(`"updated_at":"`)

// watch follows a job to its end and returns how old each change was, in seconds, when
// it arrived. The first event is left out: its age is when the watcher came.
func (s *server) watch(ctx context.Context, with *http.Client, jobID string) (ages []float64, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/v1/renders/"+jobID+"/events", nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+s.account)
	answer, err := with.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the stream answers %s", answer.Status)
	}
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	var last string
	for lines.Scan() {
		_, rest, found := bytes.Cut(lines.Bytes(), changedAt)
		if !found {
			continue
		}
		text, _, _ := bytes.Cut(rest, []byte(`"`))
		if string(text) == last {
			continue
		}
		changed, err := time.Parse(time.RFC3339Nano, string(text))
		if err != nil {
			return nil, err
		}
		if last != "" {
			ages = append(ages, time.Since(changed).Seconds())
		}
		last = string(text)
	}
	return ages, lines.Err()
}
