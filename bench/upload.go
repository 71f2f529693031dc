package main

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

	"svc.example/client"
)

// Rows of one upload each.
const (
	rowUpload = "upload/100 MiB to locked quote"
	rowAnswer = "upload/last byte sent to answer"
	rowMemory = "upload/peak memory growth of the server"
)

// uploadGroup measures POST /node/v1/uploads/inspect on a service that runs as a
// process of its own, by the client of this repository.
func uploadGroup() group {
	return group{
		rows: []row{
			{name: rowUpload, unit: duration, baseline: "sha256sum of the file", note: "over loopback HTTP, hashed, inspected and fsynced"},
			{name: rowAnswer, unit: duration, baseline: "sha256sum of the file", goal: under(0.05, duration),
				note: "what waits in socket buffers, the last fsync and the quote included"},
			{name: rowMemory, unit: size, baseline: "the idle server", goal: under(24e6, size).always(),
				note: "VmHWM over what was resident before the first upload"},
		},
		measure: measureUpload,
	}
}

func measureUpload(ctx context.Context, b *bench, into record) (err error) {
	path, err := plainFile(ctx, b)
	if err != nil {
		return err
	}
	s, err := startServer(ctx, b)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	idle, err := memory(s.pid(), "VmRSS")
	if err != nil {
		return err
	}
	return b.rounds(ctx, into, func(r record) error {
		var took, answer, hashed float64
		err := b.turns(func() (err error) {
			took, answer, err = s.upload(ctx, path)
			return err
		}, func() (err error) {
			hashed, err = sha256sum(ctx, path)
			return err
		})
		if err != nil {
			return err
		}
		peak, err := memory(s.pid(), "VmHWM")
		r.add(rowUpload, took, hashed)
		r.add(rowAnswer, answer, hashed)
		r.add(rowMemory, peak-idle, idle)
		return err
	})
}

// server is svc serve without a worker, as a process.
type server struct {
	command *exec.Cmd
	client  *client.Client
}

func startServer(ctx context.Context, b *bench) (*server, error) {
	data, err := b.dir("server-")
	if err != nil {
		return nil, err
	}
	b.say("building svc")
	svc := filepath.Join(data, "svc")
	if out, err := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-o", svc, "./cmd/svc").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build svc: %w: %s", err, out)
	}
	key, err := createWorkspace(ctx, svc, data)
	if err != nil {
		return nil, err
	}
	s := &server{command: exec.CommandContext(ctx, svc, "serve", "--listen", "127.0.0.1:0", "--data", data, "--worker", "none")}
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
	address, told := strings.CutPrefix(strings.TrimSpace(line), "svc listens on ")
	if !told {
		err = fmt.Errorf("svc serve does not say where it listens, but %q: %w", line, err)
	} else {
		s.client, err = client.New(address, key)
	}
	if err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

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
