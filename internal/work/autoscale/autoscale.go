// Package autoscale asks an engine that runs jobs, such as Slurm or Kubernetes, for the
// workers that the work needs.
//
// What always holds: it keeps no state. What it has asked for is in the engine's own list,
// including what waits there, so a restart asks for nothing twice. It never asks for more
// workers than Policy.Max, and never for more for one workspace than its share. It ends no
// running worker: workers end on their own when they are idle (svc worker run
// --exit-idle). It cancels only what the engine has not started.
//
// The engine decides where a worker runs, with which GPU, and what restarts it. Start
// reading at Scaler.Step, then Policy.Wanted; engine.go speaks to engines.
package autoscale

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"time"

	"svc.example/internal/render/buildoption"
	"svc.example/internal/work/farmapi"
)

// Policy says how many workers some work is worth.
type Policy struct {
	Min, Max int // workers, 0 <= Min <= Max, and Max >= 1
	// WorkPerWorker is how much rendering, waiting or in progress, justifies a worker, if
	// a job's finished frames show how long the others take; above 0.
	WorkPerWorker time.Duration
	// FramesPerWorker is how many frames of jobs without a finished one are worth a worker;
	// 1 or more.
	FramesPerWorker int
	// Lacks are the options that the workers' Blender was built without. Frames that need
	// one of them justify no worker.
	Lacks []buildoption.Option
	// Tags are those of the workers. Frames of workspaces that require another one justify no
	// worker, and with Reserved neither do those of workspaces that require none.
	Tags     []string
	Reserved bool
	// Share is the part of Max that the frames of one workspace are worth at most, above 0
	// and at most 1.
	Share float64
	// Most is how many workers one step asks for at most; 1 or more.
	Most int
}

// Check returns an error for a policy out of its ranges.
func (p Policy) Check() error {
	switch {
	case p.Max < 1:
		return fmt.Errorf("--max is %d; it must be 1 or more", p.Max)
	case p.Min < 0 || p.Min > p.Max:
		return fmt.Errorf("--min is %d; it must be 0 to --max, %d", p.Min, p.Max)
	case p.WorkPerWorker <= 0:
		return fmt.Errorf("--work-per-worker is %s; it must be above 0", p.WorkPerWorker)
	case p.FramesPerWorker < 1:
		return fmt.Errorf("--frames-per-worker is %d; it must be 1 or more", p.FramesPerWorker)
	case !(p.Share > 0 && p.Share <= 1):
		return fmt.Errorf("--workspace-share is %g; it must be above 0 and at most 1", p.Share)
	case p.Most < 1:
		return fmt.Errorf("--step is %d; it must be 1 or more", p.Most)
	}
	return nil
}

// Wanted is how many workers the demand is worth: for each workspace those that its frames
// are worth, within its share; together Min to Max.
func (p Policy) Wanted(d farmapi.DemandReply) int {
	share := max(1, int(math.Floor(p.Share*float64(p.Max))))
	total := 0
	for _, w := range d.Workspaces {
		total += min(p.worth(w), share)
		if total >= p.Max {
			return p.Max
		}
	}
	return max(p.Min, total)
}

// worth is how many workers the frames of a workspace are worth: never more than frames.
func (p Policy) worth(w farmapi.WorkspaceDemand) int {
	if slices.ContainsFunc(w.Tags, func(tag string) bool { return !slices.Contains(p.Tags, tag) }) || (p.Reserved && len(w.Tags) == 0) {
		return 0
	}
	workers, frames := 0.0, 0.0
	for _, f := range w.Frames {
		if slices.ContainsFunc(f.Options, func(o buildoption.Option) bool { return slices.Contains(p.Lacks, o) }) {
			continue
		}
		all := max(0, f.Waiting) + max(0, f.Held)
		measured := min(max(0, f.Measured), all)
		frames += float64(all)
		workers += float64(all-measured) / float64(p.FramesPerWorker)
		if measured > 0 {
			workers += max(0, f.MeasuredSeconds) / p.WorkPerWorker.Seconds()
		}
	}
	return int(min(math.Ceil(workers), frames, float64(p.Max)))
}

// Job is a worker that the engine has been asked for.
type Job struct {
	ID string
	// Pending says that the engine has not started it.
	Pending bool
}

// Engine runs workers as its jobs.
type Engine interface {
	// List returns the jobs that are pending or run.
	List(ctx context.Context) ([]Job, error)
	// Start asks for one more.
	Start(ctx context.Context) error
	// Cancel takes back jobs that are pending.
	Cancel(ctx context.Context, ids []string) error
}

// Scaler keeps the number of workers near what is wanted. Its fields are set before Run.
type Scaler struct {
	Demand func(ctx context.Context) (farmapi.DemandReply, error)
	Engine Engine
	Policy Policy
	// Every is the pause between steps, above 0.
	Every time.Duration
	// DryRun asks the engine for nothing and cancels nothing.
	DryRun bool
	Log    *slog.Logger
	// Stepped, if it is not nil, is called for each step of Run.
	Stepped func(Step, error)

	surplus int // steps in a row with more pending jobs than are wanted
}

// Step is what one look has found and done.
type Step struct {
	Wanted    int `json:"wanted"`    // workers
	Running   int `json:"running"`   // of the engine's jobs
	Pending   int `json:"pending"`   // asked for, and not started
	Started   int `json:"started"`   // asked for now
	Cancelled int `json:"cancelled"` // taken back now
}

// patience is for how many steps in a row pending jobs must be too many before they are
// taken back: work that comes in waves would move them to the end of the engine's queue.
const patience = 3

// Step looks once, and asks for workers or takes requests back. An error means that the
// service or the engine did not answer; what was done before it is in the Step.
func (s *Scaler) Step(ctx context.Context) (step Step, err error) {
	demand, err := s.Demand(ctx)
	if err != nil {
		return step, fmt.Errorf("ask the service what waits: %w", err)
	}
	jobs, err := s.Engine.List(ctx)
	if err != nil {
		return step, fmt.Errorf("ask the engine what it runs: %w", err)
	}
	var pending []string
	for _, j := range jobs {
		if j.Pending {
			pending = append(pending, j.ID)
		}
	}
	step = Step{Wanted: s.Policy.Wanted(demand), Running: len(jobs) - len(pending), Pending: len(pending)}
	switch missing := step.Wanted - len(jobs); {
	case missing > 0:
		s.surplus = 0
		err = s.start(ctx, min(missing, s.Policy.Most), &step)
	case missing < 0 && len(pending) > 0:
		if s.surplus++; s.surplus >= patience {
			err = s.cancel(ctx, pending[max(0, len(pending)+missing):], &step)
		}
	default:
		s.surplus = 0
	}
	return step, err
}

// start asks for n more workers.
func (s *Scaler) start(ctx context.Context, n int, step *Step) error {
	for range n {
		if !s.DryRun {
			if err := s.Engine.Start(ctx); err != nil {
				return fmt.Errorf("ask the engine for a worker: %w", err)
			}
		}
		step.Started++
	}
	return nil
}

// cancel takes back the newest of the pending jobs.
func (s *Scaler) cancel(ctx context.Context, ids []string, step *Step) error {
	if !s.DryRun {
		if err := s.Engine.Cancel(ctx, ids); err != nil {
			return fmt.Errorf("take jobs back from the engine: %w", err)
		}
	}
	step.Cancelled = len(ids)
	return nil
}

// Run steps until ctx ends. A service or an engine that does not answer is asked again at
// the next step; running workers continue meanwhile.
func (s *Scaler) Run(ctx context.Context) {
	tick := time.NewTicker(s.Every)
	defer tick.Stop()
	var last Step
	for {
		step, err := s.Step(ctx)
		if ctx.Err() != nil {
			return
		}
		if s.Stepped != nil {
			s.Stepped(step, err)
		}
		switch {
		case err != nil:
			s.Log.Warn("a step has failed; the next one tries again", "err", err)
		case step != last:
			s.Log.Info("workers", "wanted", step.Wanted, "running", step.Running, "pending", step.Pending, "started", step.Started, "cancelled", step.Cancelled, "dry_run", s.DryRun)
			last = step
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
