package processes_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/demo"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/long"
	"svc.example/internal/test/s3test"
	"svc.example/internal/test/story"
	"svc.example/internal/work/wallet"
)

// How many rounds of chaos there are on each database, and the seed of the
// first; `make chaos` sets them. Otherwise there is one round in the short run.
const (
	roundsVariable = "CHAOS_ROUNDS"
	seedVariable   = "CHAOS_SEED"
)

// TestChaos lets everything go wrong at once: on PostgreSQL to three servers over an S3
// store, of which each request of a caller meets another one. It then checks that nothing is
// lost: every job has ended, the money adds up, the audit finds no breach. A
// round is named by its seed, from which all its faults follow:
//
//	CHAOS_SEED=12345 CHAOS_ROUNDS=1 scripts/with-postgres go test ./internal/test/story/processes -run TestChaos -v
func TestChaos(t *testing.T) {
	t.Parallel()
	number := func(variable string, otherwise int64) int64 {
		text := os.Getenv(variable)
		if text == "" {
			return otherwise
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", variable, err)
		}
		return n
	}
	rounds, first := number(roundsVariable, int64(long.Scale(1, 20))), number(seedVariable, time.Now().UnixMilli())
	for _, engine := range dbtest.Engines() {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			for seed := first; seed < first+rounds; seed++ {
				t.Run(fmt.Sprintf("seed-%d", seed), func(t *testing.T) { chaosRound(t, engine, uint64(seed)) })
			}
		})
	}
}

// What a round is made of.
const (
	chaosLapse    = 500 * time.Millisecond // life of a lease
	chaosLength   = 1200 * time.Millisecond
	chaosPatience = 5 * time.Minute // for one job: packing is put off a minute, and the clock goes back
	chaosCallers  = 3
	chaosWorkers  = 3
)

// chaos is one round under way.
type chaos struct {
	t        *testing.T
	service  *story.Service // looks at the same store, serves nothing
	database string         // its address
	dice     *rand.Rand
	servers  []*faultTarget
	workers  []*faultTarget
	proxy    *story.FaultyProxy
	skew     time.Duration
	flipped  []flip // bits of stored files, to be turned back
}

func chaosRound(t *testing.T, engine string, seed uint64) {
	c := &chaos{t: t, dice: rand.New(rand.NewPCG(seed, 1))}
	c.watch(seed)
	servers := 1
	config := app.Config{Data: t.TempDir(), Database: dbtest.URL(t, engine), LeaseLife: chaosLapse, Log: story.LogOf(t)}
	if engine == "postgres" {
		servers, config.Blobs = 3, s3test.Address(t)
	}
	c.database = config.Database
	c.service = story.Open(t, config)
	var addresses []string
	for range servers {
		address := story.FreeAddress(t)
		addresses = append(addresses, address)
		c.servers = append(c.servers, &faultTarget{role: story.ServerRole, config: func() any {
			return story.ServerConfig{
				Listen: address, Data: config.Data, Database: config.Database, Blobs: config.Blobs, LeaseLife: chaosLapse, NoWorker: true, AllowSynthetic: true,
				Skew: c.skew, KillAfter: c.killAfter(),
			}
		}})
	}
	c.proxy = story.StartFaultyProxy(t, addresses, seed)
	balancer := httptest.NewServer(apptest.Balancer(addresses))
	t.Cleanup(balancer.Close)
	for i := range chaosWorkers + c.dice.IntN(2) {
		given := story.WorkerConfig{Server: c.proxy.URL, Key: c.service.NodeKey().Secret, WorkDir: t.TempDir(), Synthetic: true, Lying: i == chaosWorkers}
		c.workers = append(c.workers, &faultTarget{role: story.WorkerRole, config: func() any { return given }})
	}
	for _, v := range append(c.servers, c.workers...) {
		v.start(t)
	}

	var callers []*chaosCaller
	var done sync.WaitGroup
	for i := range chaosCallers {
		e := &chaosCaller{Caller: c.service.Caller(story.Credit), dice: rand.New(rand.NewPCG(seed, uint64(100+i)))}
		e.Client = story.NewClient(t, balancer.URL, e.Agent.Secret)
		callers = append(callers, e)
		done.Go(e.run)
	}
	c.injectFaults(&done)
	c.endFaults()
	done.Wait()
	c.count(callers)
}

// injectFaults injects faults for a while, or until all callers are done.
func (c *chaos) injectFaults(done *sync.WaitGroup) {
	all := make(chan struct{})
	go func() { done.Wait(); close(all) }()
	over := time.After(chaosLength)
	for {
		select {
		case <-over:
			return
		case <-all:
			return
		case <-time.After(time.Duration(20+c.dice.IntN(150)) * time.Millisecond):
			c.injectFault()
		}
	}
}

// killAfter is the commit after which a server that starts now kills itself; 0
// is none.
func (c *chaos) killAfter() int64 {
	if c.dice.IntN(3) > 0 {
		return 0
	}
	return 5 + c.dice.Int64N(60)
}

// injectFault injects one fault, chosen by the dice.
func (c *chaos) injectFault() {
	server, worker := c.servers[c.dice.IntN(len(c.servers))], c.workers[c.dice.IntN(len(c.workers))]
	switch c.dice.IntN(12) {
	case 0:
		server.restart(c.t)
	case 1, 2:
		worker.restart(c.t)
	case 3:
		server.toggle()
	case 4, 5:
		worker.toggle()
	case 6:
		c.skew = time.Duration(c.dice.Int64N(int64(20*time.Minute))) - 10*time.Minute
		for _, s := range c.servers {
			s.send(c.skew.String())
		}
	case 7:
		for _, v := range append(c.servers, c.workers...) {
			v.revive(c.t)
		}
	case 8:
		server.send(story.DiskFull)
	case 9:
		server.send(story.DiskRoom)
	case 10, 11:
		c.flip()
	}
}

// flip is one bit of a stored file that was turned.
type flip struct {
	key    string
	offset int64
	bit    byte
}

// turn turns the bit, or turns it back. A file that is gone is left alone.
func (c *chaos) turn(f flip) {
	if err := story.TurnBit(c.t, c.service.Config, f.key, f.offset, f.bit); err != nil {
		c.t.Errorf("turn a bit of %s: %v", f.key, err)
	}
}

// flip turns one bit of an upload or a frame that is stored. Artifacts are left alone: a
// completed job's cannot be made again, and the audit would rightly name it.
func (c *chaos) flip() {
	stored := append(c.service.Files("uploads/"), c.service.Files("frames/")...)
	if len(stored) == 0 {
		return
	}
	key := stored[c.dice.IntN(len(stored))]
	file, err := c.service.App.Blobs.Open(context.Background(), key)
	if err != nil {
		return // it has gone meanwhile
	}
	size := file.Size()
	if err := file.Close(); err != nil || size == 0 {
		return
	}
	f := flip{key, c.dice.Int64N(size), 1 << c.dice.IntN(8)}
	c.turn(f)
	c.flipped = append(c.flipped, f)
}

// endFaults lets every process run from now on, on a disk with room and whole files.
func (c *chaos) endFaults() {
	c.proxy.Stop()
	for _, f := range c.flipped {
		c.turn(f)
	}
	for _, s := range c.servers {
		s.config = immortal(s.config)
		s.restart(c.t)
	}
	for _, w := range c.workers {
		w.restart(c.t) // what they kept is sent at once
	}
}

func immortal(config func() any) func() any {
	return func() any {
		given := config().(story.ServerConfig)
		given.KillAfter = 0
		return given
	}
}

// count checks what came of it. The audit comes when the service is closed.
func (c *chaos) count(callers []*chaosCaller) {
	for _, e := range callers {
		if e.err != nil {
			c.t.Errorf("a caller: %v", e.err)
			c.service.Read(func(ctx context.Context, tx *db.Tx) error { return stuck(ctx, tx, c.skew, c.t.Output()) })
		}
		want := wallet.Balance{AvailableCents: story.Credit}
		for _, job := range e.ended {
			switch job.Status {
			case client.StatusCompleted:
				want.AvailableCents -= int64(job.FrameCount)
				if job.ChargedCents != int64(job.FrameCount) || job.FramesCompleted != job.FrameCount {
					c.t.Errorf("a completed job charged %d for %d of %d frames", job.ChargedCents, job.FramesCompleted, job.FrameCount)
				}
				e.verifyZIP(job)
			case client.StatusFailed, client.StatusCancelled:
				if job.ChargedCents != 0 {
					c.t.Errorf("a %s job charged %d cents", job.Status, job.ChargedCents)
				}
			default:
				c.t.Errorf("a job ended as %s", job.Status)
			}
		}
		var balance wallet.Balance
		c.service.Read(func(ctx context.Context, tx *db.Tx) (err error) {
			balance, err = wallet.Get(ctx, tx, e.Workspace)
			return err
		})
		if balance != want {
			c.t.Errorf("a wallet has %+v, want %+v", balance, want)
		}
	}
}

// chaosCaller is what one caller wants in a round.
type chaosCaller struct {
	story.Caller
	dice  *rand.Rand
	ended []*client.Job
	err   error
}

func (e *chaosCaller) run() {
	for range 1 + e.dice.IntN(2) {
		job, err := e.job(1 + e.dice.IntN(8))
		if err != nil {
			e.err = err
			return
		}
		e.ended = append(e.ended, job)
	}
}

// job has frames rendered; sometimes it starts twice, sometimes it cancels.
func (e *chaosCaller) job(frames int) (*client.Job, error) {
	ctx, cancel := context.WithTimeout(e.T.Context(), chaosPatience)
	defer cancel()
	first := 1
	q, err := e.Inspect(ctx, client.InspectRequest{Filename: demo.Filename, Body: bytes.NewReader(demo.Scene()), FrameStart: &first, FrameEnd: &frames})
	if err != nil {
		return nil, fmt.Errorf("inspect: %w", err)
	}
	job, err := e.Take(q)
	if err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	if e.dice.IntN(3) == 0 {
		again, err := e.Take(q)
		if err != nil || again.JobID != job.JobID {
			return nil, fmt.Errorf("started twice: %+v, %w", again, err)
		}
	}
	if e.dice.IntN(4) == 0 {
		_, err := e.Cancel(ctx, job.JobID)
		if refusal, ok := errors.AsType[*client.Error](err); err != nil && (!ok || refusal.Code != string(fault.RenderNotCancellable)) {
			return nil, fmt.Errorf("cancel: %w", err)
		}
	}
	ended, err := e.Wait(ctx, job.JobID, nil)
	if err != nil {
		return nil, fmt.Errorf("follow: %w", err)
	}
	return ended, nil
}

// verifyZIP checks a completed job's ZIP against its receipt.
func (e *chaosCaller) verifyZIP(job *client.Job) {
	path := filepath.Join(e.T.TempDir(), "job.zip")
	artifact, err := e.Download(story.Patient(e.T), job.JobID, path, nil)
	if err != nil {
		e.T.Errorf("download: %v", err)
		return
	}
	content, err := os.ReadFile(path)
	if err != nil {
		e.T.Error(err)
		return
	}
	e.Verify(story.Patient(e.T), job, content, artifact.SHA256)
}

// faultTarget is a process that faults are injected into.
type faultTarget struct {
	role    string
	config  func() any
	p       *story.Process
	stopped bool
	log     lastLines // of this process and of those before it
}

func (v *faultTarget) start(t *testing.T) {
	v.p, v.stopped = story.LaunchLogging(t, v.role, v.config(), apptest.LogWriter(t, io.MultiWriter(t.Output(), &v.log))), false
}

// restart kills the process and starts it again.
func (v *faultTarget) restart(t *testing.T) {
	v.p.Kill()
	v.start(t)
}

// revive starts the process when it has ended on its own.
func (v *faultTarget) revive(t *testing.T) {
	if v.ended() {
		v.restart(t)
	}
}

// ended reports whether the process printed its last.
func (v *faultTarget) ended() bool {
	for {
		select {
		case _, open := <-v.p.Lines:
			if !open {
				return true
			}
		default:
			return false
		}
	}
}

// toggle freezes the process, or thaws it.
func (v *faultTarget) toggle() {
	s := syscall.SIGSTOP
	if v.stopped {
		s = syscall.SIGCONT
	}
	v.stopped = !v.stopped
	_ = v.p.Process.Signal(s) // it may have killed itself
}

func (v *faultTarget) send(line string) {
	_, _ = v.p.In.Write([]byte(line + "\n")) // likewise
}
