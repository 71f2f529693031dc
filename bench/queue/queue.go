// Package queue simulates the queue of a farm, and prints how long workspaces wait.
//
// What always holds: the rule that decides is that of package dispatch over a real SQLite
// database, no copy of it; only the workers and their time are simulated. Equal seeds give
// equal tables. The other rule, first come first served, is there to be compared with.
//
// A frame that has begun is finished, no worker fails, and packaging takes no time. Start
// reading at Farm; docs/internal/fair-turns.md has what Markdown prints.
package queue

//go:generate go run ./print ../../docs/internal/fair-turns.md

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Farm is what is simulated.
type Farm struct {
	Seed    uint64
	GPUs    int
	Horizon time.Duration // jobs start, and are counted, until then
	Kinds   []Kind
}

// Kind is a number of workspaces that are alike.
type Kind struct {
	Name       string
	Workspaces int
	Jobs       int           // that each starts within the horizon
	AtOnce     bool          // all start at the beginning instead of at random times
	Least      int           // frames of a job
	Most       int           // frames of a job
	FrameTime  time.Duration // median over jobs; two of three jobs are within half and double
}

// Workspaces is how many the farm has.
func (f Farm) Workspaces() (n int) {
	for _, k := range f.Kinds {
		n += k.Workspaces
	}
	return n
}

// job is a job of the simulation.
type job struct {
	id, workspace string
	kind          int
	started       time.Duration
	frames        []time.Duration // what each takes
	claimed       int
	accepted      int
	rendered      time.Duration // by its accepted frames
	waited        time.Duration // from its start to its first claim; -1 before that
}

// rule decides which job a worker renders a frame of.
type rule interface {
	start(ctx context.Context, now time.Duration, j *job) error
	// claim takes the next frame of the job that it returns, nil for none, for a worker that
	// has a job open, nil for none.
	claim(ctx context.Context, now time.Duration, worker int, open *job) (*job, error)
	// accept records that a worker has rendered a frame, after j has counted it.
	accept(ctx context.Context, now time.Duration, worker int, j *job) error
}

// jobs draws the jobs of all workspaces in the order of their starts.
func (f Farm) jobs() (all []*job) {
	random := rand.New(rand.NewPCG(f.Seed, 0))
	workspace := 0
	for kind, k := range f.Kinds {
		for range k.Workspaces {
			workspace++
			for range k.Jobs {
				j := &job{workspace: fmt.Sprintf("WSP-%04d", workspace), kind: kind, waited: -1}
				if !k.AtOnce {
					j.started = time.Duration(random.Int64N(f.Horizon.Milliseconds())) * time.Millisecond
				}
				usual := math.Exp(math.Log(k.FrameTime.Seconds()) + 0.7*random.NormFloat64())
				for range k.Least + random.IntN(k.Most-k.Least+1) {
					// Whole tenths of a second: the last bits of a processor's logarithm decide nothing.
					tenths := math.Round(10 * usual * (0.9 + 0.2*random.Float64()))
					j.frames = append(j.frames, time.Duration(max(tenths, 1))*100*time.Millisecond)
				}
				all = append(all, j)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *job) int { return cmp.Compare(a.started, b.started) })
	for i, j := range all {
		j.id = fmt.Sprintf("JOB-%06d", i+1)
	}
	return all
}

// turn is when a worker is done with the frame that it renders.
type turn struct {
	at     time.Duration
	worker int
	job    *job
	took   time.Duration
}

// turns is a heap, the earliest first.
type turns []turn

func (t turns) Len() int      { return len(t) }
func (t turns) Swap(a, b int) { t[a], t[b] = t[b], t[a] }
func (t turns) Less(a, b int) bool {
	return cmp.Or(cmp.Compare(t[a].at, t[b].at), cmp.Compare(t[a].worker, t[b].worker)) < 0
}
func (t *turns) Push(x any) { *t = append(*t, x.(turn)) }
func (t *turns) Pop() any {
	last := (*t)[len(*t)-1]
	*t = (*t)[:len(*t)-1]
	return last
}

// run is one simulation under a rule.
type run struct {
	rule rule
	busy turns
	idle []int  // workers
	open []*job // of each worker
	got  map[string]time.Duration
}

// simulate plays the jobs until the horizon. It changes them, and returns the time of
// workers that each workspace got.
func (f Farm) simulate(ctx context.Context, jobs []*job, by rule) (got map[string]time.Duration, err error) {
	r := &run{rule: by, open: make([]*job, f.GPUs), got: map[string]time.Duration{}}
	for worker := range f.GPUs {
		r.idle = append(r.idle, worker)
	}
	for {
		var now time.Duration
		switch {
		case len(jobs) > 0 && (len(r.busy) == 0 || jobs[0].started <= r.busy[0].at):
			now = jobs[0].started
			err = by.start(ctx, now, jobs[0])
			jobs = jobs[1:]
		case len(r.busy) > 0:
			now = r.busy[0].at
			err = r.deliver(ctx)
		default:
			return r.got, nil
		}
		if err != nil || now > f.Horizon {
			return r.got, err
		}
		if err := r.giveOut(ctx, now); err != nil {
			return r.got, err
		}
	}
}

// deliver ends the frame that is done next.
func (r *run) deliver(ctx context.Context) error {
	done := heap.Pop(&r.busy).(turn)
	done.job.accepted++
	done.job.rendered += done.took
	r.idle = append(r.idle, done.worker)
	return r.rule.accept(ctx, done.at, done.worker, done.job)
}

// giveOut has idle workers claim, until one gets nothing: then none would.
func (r *run) giveOut(ctx context.Context, now time.Duration) error {
	for len(r.idle) > 0 {
		worker := r.idle[0]
		j, err := r.rule.claim(ctx, now, worker, r.open[worker])
		if err != nil || j == nil {
			return err
		}
		if j.waited < 0 {
			j.waited = now - j.started
		}
		took := j.frames[j.claimed]
		j.claimed++
		r.idle, r.open[worker] = r.idle[1:], j
		r.got[j.workspace] += took
		heap.Push(&r.busy, turn{now + took, worker, j, took})
	}
	return nil
}

// Waits is how long the jobs of a kind waited for their first frame, and how evenly its
// workspaces were served.
type Waits struct {
	Jobs, Frames            int
	Unbegun                 int // jobs that waited until the horizon; counted as if served then
	Median, P95, Longest    time.Duration
	LeastServed, MostServed time.Duration // the workers' time of one workspace
}

// waits returns what each kind met under a rule, in the farm's order.
func (f Farm) waits(ctx context.Context, by func([]*job) rule) (all []Waits, err error) {
	jobs := f.jobs()
	got, err := f.simulate(ctx, jobs, by(jobs))
	if err != nil {
		return nil, err
	}
	for kind := range f.Kinds {
		all = append(all, f.waitsOf(kind, jobs, got))
	}
	return all, nil
}

// waitsOf counts one kind.
func (f Farm) waitsOf(kind int, jobs []*job, got map[string]time.Duration) (w Waits) {
	var waited []time.Duration
	served := map[string]time.Duration{}
	for _, j := range jobs {
		if j.kind != kind {
			continue
		}
		w.Jobs++
		w.Frames += len(j.frames)
		served[j.workspace] = got[j.workspace]
		if j.waited < 0 {
			w.Unbegun++
			j.waited = f.Horizon - j.started
		}
		waited = append(waited, j.waited)
	}
	slices.Sort(waited)
	share := func(s float64) time.Duration { return waited[min(int(s*float64(len(waited))), len(waited)-1)] }
	w.Median, w.P95, w.Longest = share(0.5), share(0.95), waited[len(waited)-1]
	first := true
	for _, t := range served {
		if first {
			w.LeastServed, w.MostServed, first = t, t, false
		}
		w.LeastServed, w.MostServed = min(w.LeastServed, t), max(w.MostServed, t)
	}
	return w
}
