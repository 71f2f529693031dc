package scale

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"net/url"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"svc.example/bench/rounds"
	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/render/pixels"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/synthetic"
	"svc.example/internal/work/wallet"
)

// What a run over several API processes is made of.
const (
	severalProcesses  = 3
	severalWorkspaces = 20 // with a job each: a farm of one job is bound by its row
	severalMost       = 24 // connections to PostgreSQL of all processes together
	severalSample     = 50 * time.Millisecond
	severalShared     = 8   // cores, from which on a machine has room for all of them
	severalSmall      = 0.2 // of a core: a machine so small that the others share two cores
)

// Processes has a thousand plain clients of the workers' API render ten thousand frames
// over three API processes on one PostgreSQL, which together have as many connections as
// the one process of the baseline. Where clients, processes and database share few
// processors, the frames per second say nothing of a farm: SmallMachines measures them.
// What does is the processors' time for a frame, which must not grow with the processes,
// and how many statements wait for another's lock.
func Processes() rounds.Group {
	const (
		rate        = "processes/postgres frames a second"
		ours        = "processes/postgres processor time of the API for a frame"
		theirs      = "processes/postgres processor time of PostgreSQL for a frame"
		locks       = "processes/postgres statements that wait for a lock"
		connections = "processes/postgres connections of a process"
	)
	baseline, goal := "1 process", rounds.Goal{}
	if runtime.NumCPU() >= severalShared {
		goal = rounds.RatioAtLeast(2)
	}
	note := fmt.Sprintf("%d processes; %d plain clients, %d jobs of %d workspaces, %d frames; clients and database on the same machine; one round",
		severalProcesses, scaleWorkers, severalWorkspaces, severalWorkspaces, scaleFrames)
	return rounds.Group{
		Rows: []rounds.Row{
			{Name: rate, Unit: rounds.PerSecond, Baseline: baseline, Goal: goal, Note: note},
			{Name: ours, Unit: rounds.Duration, Baseline: baseline, Goal: rounds.RatioAtMost(1.2), Note: "user and system time of the API processes; what does not grow can be spread over machines"},
			{Name: theirs, Unit: rounds.Duration, Baseline: baseline, Goal: rounds.RatioAtMost(1.2), Note: "of all its processes; the part that more API processes do not spread"},
			{Name: locks, Unit: rounds.Percent, Baseline: baseline, Note: "of the sessions that are at work, every 50 ms"},
			{Name: connections, Unit: rounds.Count, Baseline: baseline, Goal: rounds.Under(severalMost/severalProcesses+1, rounds.Count), Note: "most at once; --database-connections shares " + strconv.Itoa(severalMost) + " among the processes"},
		},
		Measure: func(ctx context.Context, b *rounds.Run, into rounds.Record) error {
			one, err := severalRun(ctx, b, 1, 0)
			if err != nil {
				return err
			}
			many, err := severalRun(ctx, b, severalProcesses, 0)
			if err != nil {
				return err
			}
			into.Add(rate, many.rate, one.rate)
			into.Add(ours, many.api, one.api)
			into.Add(theirs, many.postgres, one.postgres)
			into.Add(locks, many.locks, one.locks)
			into.Add(connections, many.connections, one.connections)
			return nil
		},
	}
}

// SmallMachines does the same over API processes that have little of a core each, as if
// every one ran on a small machine of its own: then the API is what gives way first, and
// two more processes are two more machines.
func SmallMachines() rounds.Group {
	const (
		rate  = "machines/postgres frames a second"
		ours  = "machines/postgres processor time of the API for a frame"
		locks = "machines/postgres statements that wait for a lock"
	)
	baseline := "1 process"
	note := fmt.Sprintf("as processes/, but each process has %v of a core; one round", severalSmall)
	return rounds.Group{
		Rows: []rounds.Row{
			{Name: rate, Unit: rounds.PerSecond, Baseline: baseline, Goal: rounds.RatioAtLeast(2), Note: note},
			{Name: ours, Unit: rounds.Duration, Baseline: baseline, Goal: rounds.RatioAtMost(1.2), Note: "user and system time of the API processes"},
			{Name: locks, Unit: rounds.Percent, Baseline: baseline, Note: "of the sessions that are at work, every 50 ms"},
		},
		Measure: func(ctx context.Context, b *rounds.Run, into rounds.Record) error {
			one, err := severalRun(ctx, b, 1, severalSmall)
			if errors.Is(err, errors.ErrUnsupported) {
				b.Say("no processes of small machines: %v", err)
				return nil
			}
			if err != nil {
				return err
			}
			many, err := severalRun(ctx, b, severalProcesses, severalSmall)
			if err != nil {
				return err
			}
			into.Add(rate, many.rate, one.rate)
			into.Add(ours, many.api, one.api)
			into.Add(locks, many.locks, one.locks)
			return nil
		},
	}
}

// several is the result of one run.
type several struct {
	rate          float64 // frames per second, from the first lease to the last accepted frame
	api, postgres float64 // processors' seconds for a frame
	locks         float64 // share of the working sessions that waited for a lock
	connections   float64 // most of one process
}

// severalRun renders the jobs over n processes on a new store, and audits it. Each process
// has so many cores; 0 = all of the machine's.
func severalRun(ctx context.Context, b *rounds.Run, n int, cores float64) (out several, err error) {
	limits := append([]string{"--database-connections", strconv.Itoa(severalMost / n)}, wide...)
	s, err := serve(ctx, b, "postgres", limits...)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	processes := []*server{s}
	defer func() {
		for _, more := range processes[1:] {
			err = errors.Join(err, more.stop())
		}
	}()
	for len(processes) < n {
		more := &server{b: b, store: s.store, drop: func() error { return nil }}
		if err := more.launch(ctx, limits); err != nil {
			return out, err
		}
		processes = append(processes, more)
	}
	callers, err := s.makeCallers(ctx)
	if err != nil {
		return out, err
	}
	hands, err := s.hire(ctx, processes)
	if err != nil {
		return out, err
	}
	for _, c := range callers {
		if _, err := s.startAs(ctx, c, scaleFrames/severalWorkspaces); err != nil {
			return out, err
		}
	}
	for _, p := range processes {
		if err := p.confine(cores); err != nil {
			return out, err
		}
	}
	b.Say("%d processes: %d workers are registered, %d frames begin", n, len(hands), scaleFrames)
	if out, err = s.work(ctx, hands, processes); err != nil {
		return out, err
	}
	return out, s.audit(ctx)
}

// makeCallers makes workspaces with money.
func (s *server) makeCallers(ctx context.Context) (callers []*client.Client, err error) {
	service, err := app.Open(ctx, s.store)
	if err != nil {
		return nil, err
	}
	for i := range severalWorkspaces {
		err = service.DB.Write(ctx, func(tx *db.Tx) error {
			p, err := identity.CreateWorkspace(ctx, tx, fmt.Sprintf("several-%d@example.com", i))
			if err != nil {
				return err
			}
			key, err := identity.CreateAgentKey(ctx, tx, p.WorkspaceID, identity.AgentTerms{Name: "several"})
			if err != nil {
				return err
			}
			c, err := client.New(s.url, key.Secret)
			callers = append(callers, c)
			return errors.Join(err, wallet.Credit(ctx, tx, p.WorkspaceID, fmt.Sprint("several ", i), credit))
		})
		if err != nil {
			break
		}
	}
	return callers, errors.Join(err, service.Close())
}

// hand is a worker: a plain client of the workers' API.
type hand struct {
	farm     *farmapi.Client
	workerID string
	open     string // the job whose frames it prefers
}

// hire registers all workers, each at the next of the processes.
func (s *server) hire(ctx context.Context, processes []*server) ([]*hand, error) {
	hands := make([]*hand, scaleWorkers)
	next := make(chan int, len(hands))
	for i := range hands {
		next <- i
	}
	_, err := rounds.Throughput(lookOrders, len(hands), func(int) error {
		i := <-next
		h := &hand{farm: farmapi.NewClient(processes[i%len(processes)].url, s.nodes[i])}
		reply, err := h.farm.Register(ctx, farmapi.RegisterRequest{
			Name: fmt.Sprint("several-", i), Renderer: contract.SyntheticRenderer, BlenderVersion: "none", BlenderBuildHash: "none",
			Device: "CPU", DeviceName: synthetic.DeviceName, Denoise: farmapi.DenoiseKeep,
		})
		h.workerID, hands[i] = reply.WorkerID, h
		return err
	})
	return hands, err
}

// work has all hands render until every frame is accepted, and measures meanwhile.
func (s *server) work(ctx context.Context, hands []*hand, processes []*server) (out several, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	seen := newSampler(s.store.Database)
	api, postgres, err := s.processorTime(ctx, processes)
	if err != nil {
		return out, err
	}
	began := time.Now()
	accepted := make(chan int, scaleFrames)
	failed := make(chan error, len(hands))
	var all sync.WaitGroup
	for _, h := range hands {
		all.Go(func() {
			if err := h.work(ctx, accepted); err != nil && ctx.Err() == nil {
				failed <- err
			}
		})
	}
	all.Go(func() { seen.run(ctx) })
	for n := 0; n < scaleFrames && err == nil; {
		select {
		case <-accepted:
			if n++; n%(scaleFrames/5) == 0 {
				s.b.Say("%d frames are accepted", n)
			}
		case err = <-failed:
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	out.rate = scaleFrames / time.Since(began).Seconds()
	apiEnd, postgresEnd, timeErr := s.processorTime(context.WithoutCancel(ctx), processes)
	out.api, out.postgres = (apiEnd-api)/scaleFrames, (postgresEnd-postgres)/scaleFrames
	cancel()
	all.Wait()
	s.b.Say("locks that were waited for: %v", seen.locks)
	out.locks, out.connections = seen.results(len(processes))
	return out, errors.Join(err, timeErr, seen.err)
}

// work leases, paints and delivers until ctx ends. A frame that was taken from it counts
// for its new holder.
func (h *hand) work(ctx context.Context, accepted chan<- int) error {
	for ctx.Err() == nil {
		var reply farmapi.LeaseReply
		err := patiently(ctx, func() (err error) {
			reply, err = h.farm.Lease(ctx, farmapi.LeaseRequest{WorkerID: h.workerID, JobID: h.open, Max: 1, WaitSeconds: 5})
			return err
		})
		if err != nil {
			return err
		}
		for _, l := range reply.Leases {
			h.open = reply.Job.JobID
			err := patiently(ctx, func() error { return h.deliver(ctx, l) })
			if lost, ok := errors.AsType[*farmapi.Error](err); ok && lost.Code == "lease_lost" {
				continue
			}
			if err != nil {
				return err
			}
			accepted <- 1
		}
	}
	return nil
}

// patiently calls again what has no answer in time, as a worker does.
func patiently(ctx context.Context, call func() error) error {
	for {
		if err := call(); !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			return err
		}
	}
}

// deliver paints a frame and sends it.
func (h *hand) deliver(ctx context.Context, l farmapi.Lease) error {
	size := image.Pt(64, 36) // as scripts/scenes/scale.py says
	content, err := synthetic.Paint(l.Frame, size)
	if err != nil {
		return err
	}
	picture, err := pixels.Read(bytes.NewReader(content))
	if err != nil {
		return err
	}
	sum := sha256.Sum256(content)
	return h.farm.Deliver(ctx, farmapi.FrameResult{
		WorkerID: h.workerID, LeaseID: l.LeaseID, Attempt: l.Attempt, JobID: h.open, Frame: l.Frame, File: fmt.Sprintf("frame_%04d.png", l.Frame),
		SHA256: hex.EncodeToString(sum[:]), PixelSHA256: picture.SHA256, SizeBytes: int64(len(content)), Width: size.X, Height: size.Y,
		RenderSeconds: 0.05, Device: "CPU", DeviceName: synthetic.DeviceName, BlenderVersion: "none", BlenderBuildHash: "none", Switched: []string{},
	}, bytes.NewReader(content))
}

// processorTime is the seconds of processors that the API processes have used so far, and
// those of the processes that PostgreSQL has now, on this machine.
func (s *server) processorTime(ctx context.Context, processes []*server) (api, postgres float64, err error) {
	for _, p := range processes {
		used, err := rounds.ProcessorTime(p.process.Process.Pid)
		if err != nil {
			return 0, 0, err
		}
		api += used
	}
	pool, err := measured(s.store.Database)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	var pids string
	if err := pool.QueryRowContext(ctx, "SELECT string_agg(CAST(pid AS text), ' ') FROM pg_stat_activity").Scan(&pids); err != nil {
		return 0, 0, err
	}
	for pid := range strings.FieldsSeq(pids) {
		n, err := strconv.Atoi(pid)
		if err != nil {
			return 0, 0, err
		}
		used, err := rounds.ProcessorTime(n)
		if err != nil && !errors.Is(err, os.ErrNotExist) { // it may have ended since
			return 0, 0, err
		}
		postgres += used
	}
	return api, postgres, nil
}

// sampler looks at the sessions of a database again and again.
type sampler struct {
	database               string
	working, waiting, most float64
	locks                  map[string]int // how often each lock was waited for, with its statement
	err                    error
}

func newSampler(database string) *sampler {
	return &sampler{database: database, locks: map[string]int{}}
}

// sampling is the application's name of sessions that measure.
const sampling = "svc-bench"

// measured opens a database for measuring it, with one connection.
func measured(database string) (*sql.DB, error) {
	address, err := url.Parse(database)
	if err != nil {
		return nil, err
	}
	values := address.Query()
	values.Set("application_name", sampling)
	address.RawQuery = values.Encode()
	pool, err := sql.Open("pgx", address.String())
	if err == nil {
		pool.SetMaxOpenConns(1)
	}
	return pool, err
}

// sampled counts a database's sessions: those at work, those of them that wait for a lock,
// and all, and lists the locks and the statements that wait for
// them.
const sampled = `SELECT count(*) FILTER (WHERE state = 'active'), count(*) FILTER (WHERE state = 'active' AND wait_event_type = 'Lock'), count(*),
  coalesce((SELECT string_agg(wait_event || ' in ' || substring(query from 'name: (\w+)'), ',') FROM pg_stat_activity w
    WHERE w.datname = current_database() AND w.state = 'active' AND w.wait_event_type = 'Lock'), '')
FROM pg_stat_activity WHERE datname = current_database() AND application_name <> '` + sampling + "'"

func (s *sampler) run(ctx context.Context) {
	pool, err := measured(s.database)
	if err != nil {
		s.err = err
		return
	}
	defer func() { _ = pool.Close() }()
	every := time.NewTicker(severalSample)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
		var working, waiting, all float64
		var locks string
		if err := pool.QueryRowContext(ctx, sampled).Scan(&working, &waiting, &all, &locks); err != nil {
			if ctx.Err() == nil {
				s.err = err
			}
			return
		}
		s.working, s.waiting, s.most = s.working+working, s.waiting+waiting, max(s.most, all)
		for lock := range strings.SplitSeq(locks, ",") {
			s.locks[lock]++
		}
	}
}

// results returns the share that waited, and the most connections of a process.
func (s *sampler) results(processes int) (locks, connections float64) {
	return s.waiting / max(s.working, 1), s.most / float64(processes)
}
