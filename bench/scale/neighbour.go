package scale

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"svc.example/bench/rounds"
	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/wallet"
)

// The parts of a run with a hostile workspace.
const (
	attackTime      = 25 * time.Second
	neighbourPause  = 230 * time.Millisecond // between two requests of the neighbour
	neighbourKeys   = 5                      // which it uses in turn, so that no limit of its own stops it
	neighbourAsks   = 8                      // an inspect, a list, its frames, and the status for the rest
	neighbourFrames = 120                    // of its job: as many as two workers render in one go
	neighbourFrame  = 200 * time.Millisecond
	neighbourWork   = 4 // workers
)

// Neighbours has one workspace do its worst while another renders, and measures the requests of
// the other: with each attack alone, and with those of a hostile workspace together.
func Neighbours(engine string) (groups []rounds.Group) {
	var together []string
	for _, one := range attacks {
		groups = append(groups, neighbour(engine, one.name, one.note, one.name))
		if one.together {
			together = append(together, one.name)
		}
	}
	return append(groups, neighbour(engine, "a hostile workspace", "its uploads, reads, streams and arrays together", together...))
}

// neighbour measures the other workspace next to attacks. The baseline is the other alone. The
// limits are the published ones.
func neighbour(engine, what, note string, names ...string) rounds.Group {
	p99, memory := "neighbour/"+engine+" p99 next to "+what, "neighbour/"+engine+" server memory next to "+what
	return rounds.Group{
		Rows: []rounds.Row{
			{Name: p99, Unit: rounds.Duration, Baseline: "nobody attacks", Goal: rounds.RatioAtMost(2),
				Note: "status, list, preview of frames and inspect of a workspace whose job renders. The attack: " + note + ", from a process of low priority, which stands for other machines"},
			{Name: memory, Unit: rounds.Size, Baseline: "before the attack", Goal: rounds.Under(512e6, rounds.Size).Always(), Note: "most that was resident"},
		},
		Measure: func(ctx context.Context, b *rounds.Run, into rounds.Record) (err error) {
			s, err := serve(ctx, b, engine)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, s.stop()) }()
			stop, err := s.startWorkers(ctx, neighbourWork, neighbourFrame)
			if err != nil {
				return err
			}
			defer stop()
			if err := s.makeHostile(ctx); err != nil {
				return err
			}
			before, err := rounds.Memory(s.process.Process.Pid, "VmRSS")
			if err != nil {
				return err
			}
			err = b.Rounds(ctx, into, func(r rounds.Record) error {
				var attacked, alone []float64
				err := b.Turns(func() (err error) {
					end, err := s.attack(ctx, names)
					if err != nil {
						return err
					}
					attacked, err = s.neighbour(ctx)
					return errors.Join(err, end())
				}, func() (err error) {
					alone, err = s.neighbour(ctx)
					return err
				})
				if err != nil {
					return err
				}
				most, err := rounds.Memory(s.process.Process.Pid, "VmHWM")
				r.Add(memory, most, before)
				return errors.Join(err, r.AddShare(p99, attacked, alone, 0.99))
			})
			return errors.Join(err, s.audit(ctx))
		},
	}
}

// makeHostile makes more keys of the honest workspace, and the workspace that attacks: ten
// keys, and a job that outlasts the run and takes every second frame of the workers in both
// turns.
func (s *server) makeHostile(ctx context.Context) error {
	service, err := app.Open(ctx, s.store)
	if err != nil {
		return err
	}
	err = service.DB.Write(ctx, func(tx *db.Tx) error {
		for range neighbourKeys {
			key, err := identity.CreateAccountKey(ctx, tx, s.workspace, "neighbour")
			if err != nil {
				return err
			}
			s.accounts = append(s.accounts, key.Secret)
		}
		p, err := identity.CreateWorkspace(ctx, tx, "hostile@example.com")
		if err != nil {
			return err
		}
		for range contract.MaxActiveKeys {
			key, err := identity.CreateAgentKey(ctx, tx, p.WorkspaceID, identity.AgentTerms{Name: "hostile"})
			if err != nil {
				return err
			}
			s.hostile = append(s.hostile, key.Secret)
		}
		return wallet.Credit(ctx, tx, p.WorkspaceID, "hostile", credit)
	})
	if err := errors.Join(err, service.Close()); err != nil {
		return err
	}
	c, err := client.New(s.url, s.hostile[0])
	if err != nil {
		return err
	}
	job, err := s.startAs(ctx, c, contract.MaxFrames)
	if err != nil {
		return err
	}
	s.hostileJob = job.JobID
	done, err := s.start(ctx, 1)
	if err == nil {
		done, err = s.client.Wait(ctx, done.JobID, func(client.Event) {})
	}
	if err != nil {
		return err
	}
	proof, err := s.client.Proof(ctx, done.JobID)
	if err == nil {
		s.proof = links.ProofPath + proof.ReceiptID
	}
	return err
}

// neighbour starts a job, asks for what a person at a console asks for until attackTime is
// over, and returns how long each request took, in seconds. Then it ends its job.
func (s *server) neighbour(ctx context.Context) (took []float64, err error) {
	job, err := s.start(ctx, neighbourFrames)
	if err != nil {
		return nil, err
	}
	scene, err := os.ReadFile(s.scene)
	if err != nil {
		return nil, err
	}
	asked := []func(key string) error{
		func(string) error {
			_, err := s.client.Inspect(ctx, client.InspectRequest{Filename: "scale.blend", Body: bytes.NewReader(scene)})
			return err
		},
		func(key string) error { return s.ask(ctx, key, "/v1/workspace/renders?limit=50") },
		func(key string) error { return s.ask(ctx, key, "/v1/renders/"+job.JobID+"/frames") },
		func(key string) error { return s.ask(ctx, key, "/v1/renders/"+job.JobID) },
	}
	every := time.NewTicker(neighbourPause)
	defer every.Stop()
	end := time.After(attackTime)
	for n := 0; ; n++ {
		select {
		case <-every.C:
			began := time.Now()
			if err := asked[min(n%neighbourAsks, len(asked)-1)](s.accounts[n%len(s.accounts)]); err != nil {
				return nil, err
			}
			took = append(took, time.Since(began).Seconds())
		case <-end:
			_, err := s.client.Wait(ctx, job.JobID, func(client.Event) {})
			return took, err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// ask gets one address with a key of the honest workspace.
func (s *server) ask(ctx context.Context, key, path string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+key)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if _, err = io.Copy(io.Discard, answer.Body); err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", path, answer.Status)
	}
	return err
}

// attack starts the attacks in a process of their own. end stops it, and fails when it was not
// answered in each of the ways that show that it reached what it attacks: then nothing was measured.
func (s *server) attack(ctx context.Context, names []string) (end func() error, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	order, err := json.Marshal(attackOrder{URL: s.url, Attacks: names, Keys: s.hostile, NodeKey: s.nodes[len(s.nodes)-1], JobID: s.hostileJob, Proof: s.proof, Scene: s.scene})
	if err != nil {
		return nil, err
	}
	// Other machines have processors of their own: this one takes only what is left.
	process := exec.CommandContext(ctx, "nice", "-n", "19", self, "-"+AttackFlag)
	process.Stdin, process.Stderr = bytes.NewReader(order), os.Stderr
	process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var out bytes.Buffer
	process.Stdout = &out
	if err := process.Start(); err != nil {
		return nil, err
	}
	return func() error {
		err := errors.Join(process.Process.Signal(syscall.SIGTERM), process.Wait())
		if err != nil {
			return fmt.Errorf("the attack: %w", err)
		}
		var answers map[string]int
		if err := json.Unmarshal(out.Bytes(), &answers); err != nil {
			return err
		}
		s.b.Say("the attack was answered %v", answers)
		for _, one := range attacks {
			for _, want := range one.answers {
				if slices.Contains(names, one.name) && answers[want] == 0 {
					return fmt.Errorf("the attack was answered %v, never %s: %s did not reach the service", answers, want, one.name)
				}
			}
		}
		return nil
	}, nil
}
