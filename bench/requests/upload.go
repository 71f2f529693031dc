package requests

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"svc.example/bench/rounds"
	"svc.example/client"
)

// Rows of one upload each.
const (
	rowUpload = "upload/100 MiB to locked quote"
	rowAnswer = "upload/last byte sent to answer"
	rowMemory = "upload/peak memory growth of the server"
)

// Upload measures POST /node/v1/uploads/inspect (spec 4.3) on a service that runs as a
// process of its own, with the client of this repository.
func Upload() rounds.Group {
	return rounds.Group{
		Rows: []rounds.Row{
			{Name: rowUpload, Unit: rounds.Duration, Baseline: "sha256sum of the file", Note: "over loopback HTTP, hashed, inspected and fsynced"},
			{Name: rowAnswer, Unit: rounds.Duration, Baseline: "sha256sum of the file", Goal: rounds.Under(0.05, rounds.Duration),
				Note: "what waits in socket buffers, the last fsync and the quote included"},
			{Name: rowMemory, Unit: rounds.Size, Baseline: "the idle server", Goal: rounds.Under(24e6, rounds.Size).Always(),
				Note: "VmHWM over what was resident before the first upload"},
		},
		Measure: measureUpload,
	}
}

func measureUpload(ctx context.Context, b *rounds.Run, into rounds.Record) (err error) {
	path, err := b.PlainFile(ctx)
	if err != nil {
		return err
	}
	s, err := startServer(ctx, b)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	idle, err := rounds.Memory(s.pid(), "VmRSS")
	if err != nil {
		return err
	}
	return b.Rounds(ctx, into, func(r rounds.Record) error {
		var took, answer, hashed float64
		err := b.Turns(func() (err error) {
			took, answer, err = s.upload(ctx, path)
			return err
		}, func() (err error) {
			hashed, err = rounds.SHA256Sum(ctx, path)
			return err
		})
		if err != nil {
			return err
		}
		peak, err := rounds.Memory(s.pid(), "VmHWM")
		r.Add(rowUpload, took, hashed)
		r.Add(rowAnswer, answer, hashed)
		r.Add(rowMemory, peak-idle, idle)
		return err
	})
}

// server is svc serve without a worker, as a process.
type server struct {
	command *exec.Cmd
	client  *client.Client
}

// startServer builds svc and starts it on a free port, with further flags. End it with stop.
func startServer(ctx context.Context, b *rounds.Run, flags ...string) (*server, error) {
	data, err := b.Dir("server-")
	if err != nil {
		return nil, err
	}
	b.Say("building svc")
	svc := filepath.Join(data, "svc")
	if out, err := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-o", svc, "./cmd/svc").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build svc: %w: %s", err, out)
	}
	key, err := createWorkspace(ctx, svc, data)
	if err != nil {
		return nil, err
	}
	s := &server{command: exec.CommandContext(ctx, svc, append([]string{"serve", "--listen", "127.0.0.1:0", "--data", data, "--worker", "none"}, flags...)...)}
	log, err := os.Create(filepath.Join(data, "server.log"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	s.command.Stderr = log
	out, err := s.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	address, found := strings.CutPrefix(strings.TrimSpace(line), "svc listens on ")
	if !found {
		err = fmt.Errorf("svc serve does not say where it listens, but %q: %w", line, err)
	} else {
		s.client, err = client.New(address, key)
	}
	if err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

// createWorkspace makes a workspace by svc admin, before the server runs.
func createWorkspace(ctx context.Context, svc, data string) (agentKey string, err error) {
	out, err := exec.CommandContext(ctx, svc, "admin", "workspace", "create", "--email", "bench@localhost", "--json", "--data", data).Output()
	if err != nil {
		return "", fmt.Errorf("create a workspace: %w", err)
	}
	var made struct {
		AgentKey string `json:"agent_key"`
	}
	if err := json.Unmarshal(out, &made); err != nil {
		return "", fmt.Errorf("read the created workspace: %w", err)
	}
	return made.AgentKey, nil
}

func (s *server) pid() int { return s.command.Process.Pid }

// stop ends the server as an operator does.
func (s *server) stop() error {
	return errors.Join(s.command.Process.Signal(syscall.SIGTERM), s.command.Wait())
}

// upload has a file inspected and returns the seconds it took altogether, and
// from the last byte to the answer.
func (s *server) upload(ctx context.Context, path string) (took, answer float64, err error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = file.Close() }()
	var last time.Time
	began := time.Now()
	_, err = s.client.Inspect(ctx, client.InspectRequest{
		Filename: filepath.Base(path), Body: file, Progress: func(int64, int64) { last = time.Now() },
	})
	return time.Since(began).Seconds(), time.Since(last).Seconds(), err
}
