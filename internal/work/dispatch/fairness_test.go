package dispatch_test

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/test/jobtest"
	"svc.example/internal/test/long"
	"svc.example/internal/work/dispatch"
)

// simJob is a job of a simulation.
type simJob struct {
	id, workspace string
	frame         time.Duration // of one frame
	left          int           // frames that were not claimed
}

// simWorker renders frames in simulated time.
type simWorker struct {
	id   string
	free time.Duration // when it is done with what it has
	has  []lease.Lease
	open string // the job whose file it has open
	lack string // a job for which it has no denoiser
	// flaky says that the next frame that it has fails.
	flaky bool
}

// sim simulates workers that claim from and deliver to the real code. Only simulated time
// passes while they render.
type sim struct {
	t       jobtest.TB
	w       *jobtest.World
	workers []*simWorker
	jobs    map[string]*simJob
	now     time.Duration
	given   map[string]time.Duration // true time of frames claimed, by workspace and by job
	look    func()                   // called before each claim, nil for nothing
}

func newSim(t jobtest.TB, w *jobtest.World, workers int) *sim {
	s := &sim{t: t, w: w, jobs: map[string]*simJob{}, given: map[string]time.Duration{}}
	for range workers {
		s.workers = append(s.workers, &simWorker{id: w.Worker(t)})
	}
	return s
}

func (s *sim) start(workspace string, frames int, frame time.Duration) *simJob {
	j := &simJob{id: s.w.Job(s.t, workspace, frames), workspace: workspace, frame: frame, left: frames}
	s.jobs[j.id] = j
	return j
}

// step lets the worker that is free first deliver and claim again; false if it got
// nothing.
func (s *sim) step() bool {
	w := slices.MinFunc(s.workers, func(a, b *simWorker) int { return cmp.Compare(a.free, b.free) })
	s.now = max(s.now, w.free)
	for _, l := range w.has {
		if l.Subject == w.lack {
			s.w.Fail(l, fault.DenoiserUnavailable)
			s.jobs[l.Subject].left++
			continue
		}
		if w.flaky {
			w.flaky = false
			s.w.Fail(l, fault.BlenderCrashed)
			s.jobs[l.Subject].left++
			continue
		}
		s.w.Deliver(s.t, l, s.jobs[l.Subject].frame)
	}
	if s.look != nil {
		s.look()
	}
	limit := 1
	if j := s.jobs[w.open]; j != nil { // as a worker does that knows its pace
		limit = min(max(int(3*time.Second/j.frame), 1), 16)
	}
	work := s.w.Claim(s.t, w.id, w.open, limit)
	w.has = work.Leases
	if len(work.Leases) == 0 {
		w.free = s.now + time.Second
		return false
	}
	j := s.jobs[work.Job.JobID]
	took := time.Duration(len(work.Leases)) * j.frame
	w.open, w.free = j.id, s.now+took
	j.left -= len(work.Leases)
	s.given[j.workspace] += took
	s.given[j.id] += took
	if work.Waiting != j.left {
		s.t.Fatalf("%d frames of the job wait, the claim says %d", j.left, work.Waiting)
	}
	return true
}

// drain renders all remaining frames, so that the next round starts with an empty queue.
func (s *sim) drain() {
	for s.busy() {
		s.step()
	}
}

func (s *sim) busy() bool {
	for _, j := range s.jobs {
		if j.left > 0 {
			return true
		}
	}
	return slices.ContainsFunc(s.workers, func(w *simWorker) bool { return len(w.has) > 0 })
}

// tolerance bounds the difference of two that always have waiting frames: a worker may
// stay with its open file for FileAffinity, and claimed frames are charged at an assumed
// or mean time.
func (s *sim) tolerance(longest time.Duration) time.Duration {
	return dispatch.FileAffinity + time.Duration(2*len(s.workers))*max(longest, dispatch.AssumedFrameTime)
}

// rivalry is the input of one round of the simulation.
type rivalry struct {
	workers int
	within  bool // of one workspace
	frames  []time.Duration
}

var anyRivalry = rapid.Custom(func(t *rapid.T) rivalry {
	frame := rapid.SampledFrom([]time.Duration{200 * time.Millisecond, time.Second, 4 * time.Second, 8 * time.Second})
	return rivalry{
		workers: rapid.IntRange(1, 3).Draw(t, "workers"), within: rapid.Bool().Draw(t, "within"),
		frames: rapid.SliceOfN(frame, 2, 3).Draw(t, "frames"),
	}
})

func TestWorkersTimeIsSharedEqually(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		for seed := range long.Scale(2, 16) { // each takes hundreds of transactions
			play(t, w, anyRivalry.Example(seed))
		}
	})
}

func play(t *testing.T, w *jobtest.World, r rivalry) {
	s := newSim(t, w, r.workers)
	workspace := w.Workspace(t)
	var rivals []*simJob
	for _, frame := range r.frames {
		if !r.within {
			workspace = w.Workspace(t)
		}
		rivals = append(rivals, s.start(workspace, int(2*time.Minute/frame), frame))
	}
	most := s.tolerance(slices.Max(r.frames))
	for !slices.ContainsFunc(rivals, func(j *simJob) bool { return j.left == 0 }) {
		s.step()
		var shares []time.Duration
		for _, j := range rivals {
			shares = append(shares, s.given[j.id])
		}
		if apart := slices.Max(shares) - slices.Min(shares); apart > most {
			t.Fatalf("%+v: after %s the shares are %v: %s apart, more than %s", r, s.now, shares, apart, most)
		}
	}
	s.drain()
}

func TestAOneFrameJobDoesNotWaitForALongOne(t *testing.T) {
	for name, same := range map[string]bool{"of another workspace": false, "of the same workspace": true} {
		t.Run(name, func(t *testing.T) {
			jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
				s := newSim(t, w, 2)
				first := w.Workspace(t)
				endless := s.start(first, 1000, 3*time.Second)
				for range 40 {
					s.step()
				}
				second := first
				if !same {
					second = w.Workspace(t)
				}
				before := s.given[endless.id]
				single := s.start(second, 1, time.Second)
				for single.left > 0 {
					s.step()
					if more := s.given[endless.id] - before; more > s.tolerance(3*time.Second) {
						t.Fatalf("the long job received %s more and the one-frame job nothing", more)
					}
				}
			})
		})
	}
}

// A workspace that returns has no claim on the time in which it was idle, and one that
// used all workers alone repays nothing.
func TestIdleTimeEarnsNoShareAndSoleUseCostsNone(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		s := newSim(t, w, 1)
		early, late := w.Workspace(t), w.Workspace(t)
		s.start(late, 1, time.Second)
		s.start(early, 100, 3*time.Second)
		for s.given[early] < 200*time.Second {
			s.step()
		}
		back := s.start(late, 67, 3*time.Second)
		before, second := s.given[early], s.given[late]
		for back.left > 34 {
			s.step()
		}
		received, same := s.given[early]-before, s.given[late]-second
		if apart := (received - same).Abs(); apart > s.tolerance(3*time.Second) {
			t.Errorf("while the workspace that came back received %s the other received %s", same, received)
		}
	})
}

func TestAWorkerPrefersItsOpenFile(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		s := newSim(t, w, 1)
		s.start(w.Workspace(t), 40, 3*time.Second)
		s.start(w.Workspace(t), 40, 3*time.Second)
		changes, open := 0, ""
		for range 60 {
			s.step()
			if s.workers[0].open != open {
				changes, open = changes+1, s.workers[0].open
			}
		}
		if most := int(s.now/dispatch.FileAffinity) + 3; changes > most { // the first frames are charged at an assumed time
			t.Errorf("in %s the worker opened %d files, want %d at most", s.now, changes, most)
		}
	})
}

func TestSeveralWorkersShareAJobAndASingleOneTakesAll(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		s := newSim(t, w, 3)
		s.start(w.Workspace(t), 9, time.Second)
		for range 3 {
			s.step()
		}
		for _, worker := range s.workers {
			if len(worker.has) != 1 {
				t.Errorf("a worker has %d frames of the job, want 1", len(worker.has))
			}
		}
		s.drain()
	})
}
