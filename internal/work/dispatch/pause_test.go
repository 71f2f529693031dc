package dispatch_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/test/jobtest"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/job"
)

// ordered pauses, resumes or orders a job.
func ordered(t *testing.T, w *jobtest.World, do func(ctx context.Context, tx *db.Tx) (job.Object, error)) (o job.Object, err error) {
	t.Helper()
	err = w.DB.Write(t.Context(), func(tx *db.Tx) (err error) {
		o, err = do(t.Context(), tx)
		return err
	})
	return o, err
}

func pause(t *testing.T, w *jobtest.World, workspace, jobID string, by dispatch.Pauser) (job.Object, error) {
	return ordered(t, w, func(ctx context.Context, tx *db.Tx) (job.Object, error) {
		return w.Jobs.Pause(ctx, tx, workspace, jobID, by)
	})
}

func resume(t *testing.T, w *jobtest.World, workspace, jobID string, by dispatch.Pauser) (job.Object, error) {
	return ordered(t, w, func(ctx context.Context, tx *db.Tx) (job.Object, error) {
		return w.Jobs.Resume(ctx, tx, workspace, jobID, by)
	})
}

func prioritize(t *testing.T, w *jobtest.World, workspace, jobID string, priority int) (job.Object, error) {
	return ordered(t, w, func(ctx context.Context, tx *db.Tx) (job.Object, error) {
		return w.Jobs.SetPriority(ctx, tx, workspace, jobID, priority)
	})
}

// done fails the test on an error.
func done(t *testing.T, o job.Object, err error) job.Object {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestAPausedJobGetsNoWorker: what workers have of it is finished, nothing more begins, and it
// says so. Resumed, it takes no more than its share.
func TestAPausedJobGetsNoWorker(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		workspace := w.Workspace(t)
		jobID, worker := w.Job(t, workspace, 4), w.Worker(t)
		other := w.Worker(t)
		held, lost := w.ClaimOne(worker), w.ClaimOne(other)
		o, err := pause(t, w, workspace, jobID, dispatch.ByWorkspace)
		done(t, o, err)
		if o.Status != job.Rendering || o.PausedBy == nil || *o.PausedBy != dispatch.ByWorkspace || o.WaitingReason != nil || o.ETASeconds != nil {
			t.Errorf("paused while a frame is rendered: %s, by %v, reason %v, ETA %v", o.Status, o.PausedBy, o.WaitingReason, o.ETASeconds)
		}
		w.CheckTurns()
		w.Deliver(t, held, time.Second)
		if err := w.Frames.Release(t.Context(), []lease.Ref{lost.Ref()}); err != nil { // it waits again, and gets nobody
			t.Fatal(err)
		}
		w.CheckTurns()
		w.WantNoFrame(worker)
		w.WantNoFrame(other)
		wantReason(t, w, workspace, jobID, job.Paused)
		wantStranded(t, w, 0)
		if all := demand(t, w); all != 0 {
			t.Errorf("workers are wanted for %d frames of a paused job", all)
		}

		o, err = resume(t, w, workspace, jobID, dispatch.ByWorkspace)
		if done(t, o, err); o.PausedBy != nil {
			t.Errorf("resumed, it is paused by %v", o.PausedBy)
		}
		w.CheckTurns()
		for range 3 {
			w.Deliver(t, w.ClaimOne(worker), time.Second)
		}
		w.WantStatus(jobID, job.Packaging, "")
		if _, err := pause(t, w, workspace, jobID, dispatch.ByWorkspace); !fault.Is(err, fault.RenderNotPausable) {
			t.Errorf("pause a job that has all its frames: %v", err)
		}
		w.CheckTurns()
	})
}

// demand counts the frames that workers are wanted for.
func demand(t *testing.T, w *jobtest.World) (frames int64) {
	t.Helper()
	w.Read(t, func(ctx context.Context, tx *db.Tx) error {
		all, err := dispatch.FindDemand(ctx, tx)
		for _, workspace := range all {
			for _, of := range workspace.Frames {
				frames += of.Waiting
			}
		}
		return err
	})
	return frames
}

// TestAPausedJobEndsWithTheFramesInWorkersHands, if those are its last ones.
func TestAPausedJobEndsWithTheFramesInWorkersHands(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		workspace := w.Workspace(t)
		jobID, worker := w.Job(t, workspace, 1), w.Worker(t)
		held := w.ClaimOne(worker)
		_, err := pause(t, w, workspace, jobID, dispatch.ByOperator)
		done(t, job.Object{}, err)
		w.Deliver(t, held, time.Second)
		w.WantStatus(jobID, job.Packaging, "")
		w.CheckTurns()
	})
}

// TestAWorkspaceDoesNotResumeWhatAnOperatorPaused, also if it paused the job first; others find no
// such job.
func TestAWorkspaceDoesNotResumeWhatAnOperatorPaused(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		workspace, stranger := w.Workspace(t), w.Workspace(t)
		jobID := w.Job(t, workspace, 2)
		for _, by := range []dispatch.Pauser{dispatch.ByWorkspace, dispatch.ByOperator, dispatch.ByWorkspace} {
			o, err := pause(t, w, workspace, jobID, by)
			if done(t, o, err); o.QueuePosition != nil || o.WaitingReason == nil || *o.WaitingReason != job.Paused {
				t.Errorf("position %v, reason %v of a paused job", o.QueuePosition, o.WaitingReason)
			}
			w.CheckTurns()
		}
		if _, err := resume(t, w, workspace, jobID, dispatch.ByWorkspace); !fault.Is(err, fault.PausedByOperator) {
			t.Errorf("the workspace resumes it: %v", err)
		}
		for _, do := range []func(*testing.T, *jobtest.World, string, string, dispatch.Pauser) (job.Object, error){pause, resume} {
			if _, err := do(t, w, stranger, jobID, dispatch.ByWorkspace); !fault.Is(err, fault.RenderNotFound) {
				t.Errorf("another workspace: %v", err)
			}
		}
		o, err := resume(t, w, workspace, jobID, dispatch.ByOperator)
		if done(t, o, err); o.PausedBy != nil || o.QueuePosition == nil || *o.QueuePosition != 1 {
			t.Errorf("resumed by an operator: paused by %v, position %v", o.PausedBy, o.QueuePosition)
		}
		for _, priority := range []int{0, 101, -1} {
			if _, err := prioritize(t, w, workspace, jobID, priority); !fault.Is(err, fault.InvalidRequest) {
				t.Errorf("priority %d: %v", priority, err)
			}
		}
		w.CheckTurns()
	})
}

// TestAResumedWorkspaceHasSavedUpNoTime against one that rendered meanwhile.
func TestAResumedWorkspaceHasSavedUpNoTime(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		s := newSim(t, w, 1)
		rested, worked := w.Workspace(t), w.Workspace(t)
		late := s.start(rested, 40, 10*time.Second)
		_, err := pause(t, w, rested, late.id, dispatch.ByWorkspace)
		done(t, job.Object{}, err)
		s.start(worked, 60, 10*time.Second)
		for range 20 {
			s.step()
		}
		if s.given[rested] != 0 {
			t.Fatalf("a paused job received %s", s.given[rested])
		}
		_, err = resume(t, w, rested, late.id, dispatch.ByWorkspace)
		done(t, job.Object{}, err)
		before := s.given[worked]
		for range 20 {
			s.step()
		}
		if ours, theirs := s.given[rested], s.given[worked]-before; max(ours-theirs, theirs-ours) > s.tolerance(10*time.Second) {
			t.Errorf("after the pause one workspace received %s and the other %s", ours, theirs)
		}
		w.CheckTurns()
	})
}

// TestAJobOfAHigherPriorityComesFirst among those of its workspace, also for a worker that has
// another one's file open. Another workspace loses nothing by it.
func TestAJobOfAHigherPriorityComesFirst(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		s := newSim(t, w, 1)
		ours, theirs := w.Workspace(t), w.Workspace(t)
		low, high := s.start(ours, 30, 10*time.Second), s.start(ours, 12, 10*time.Second)
		rival := s.start(theirs, 30, 10*time.Second)
		for range 4 {
			s.step() // each has begun, and the worker has a file open
		}
		begun := s.given[low.id]
		o, err := prioritize(t, w, ours, high.id, 90)
		if done(t, o, err); o.Priority == nil || *o.Priority != 90 {
			t.Errorf("the priority is %v, want 90", o.Priority)
		}
		for high.left > 0 {
			s.step()
		}
		if s.given[low.id] != begun {
			t.Errorf("the job with the lower priority received %s meanwhile", s.given[low.id]-begun)
		}
		ourTime, theirTime := s.given[ours], s.given[rival.id]
		if max(ourTime-theirTime, theirTime-ourTime) > s.tolerance(10*time.Second) {
			t.Errorf("the workspaces received %s and %s", ourTime, theirTime)
		}
		s.drain()
		w.CheckTurns()
	})
}

// TestPositionsForeseePausesAndPriorities: the first in the queue is the next to start, however
// jobs are ordered, paused and resumed.
func TestPositionsForeseePausesAndPriorities(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		for seed := range mixes() {
			r := rand.New(rand.NewPCG(uint64(seed), 7))
			s := startMix(t, w, r)
			paused := map[string]bool{}
			ids := s.queued()
			change := func() {
				j := s.jobs[ids[r.IntN(len(ids))]]
				if j.left == 0 {
					return
				}
				var err error
				switch {
				case r.IntN(2) == 0:
					_, err = prioritize(t, w, j.workspace, j.id, 40+10*r.IntN(3))
				case paused[j.id]:
					_, err = resume(t, w, j.workspace, j.id, dispatch.ByWorkspace)
					delete(paused, j.id)
				default:
					_, err = pause(t, w, j.workspace, j.id, dispatch.ByWorkspace)
					paused[j.id] = true
				}
				if err != nil {
					t.Fatal(err)
				}
				w.CheckTurns()
			}
			before := s.queued()
			s.look = func() {
				change()
				before = s.queued()
			}
			for s.busy() {
				if len(paused) > 0 && !s.step() {
					for id := range paused {
						_, err := resume(t, w, s.jobs[id].workspace, id, dispatch.ByOperator)
						done(t, job.Object{}, err)
						delete(paused, id)
					}
					continue
				}
				s.step()
				if after := s.queued(); len(after) < len(before) && after != nil && len(before) > 0 && slices.Contains(after, before[0]) {
					t.Fatalf("mix %d: %v are queued, then %v: another than the first started", seed, before, after)
				}
			}
			s.sendHome()
		}
	})
}

// TestAPauseAndAClaimAtOnceAgree: each frame that was claimed before the pause is counted, and
// none is claimed after it.
func TestAPauseAndAClaimAtOnceAgree(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		workspace := w.Workspace(t)
		workers := []string{w.Worker(t), w.Worker(t), w.Worker(t)}
		for range 5 {
			jobID := w.Job(t, workspace, 12)
			var all sync.WaitGroup
			for _, worker := range workers {
				all.Go(func() {
					for range 3 {
						if _, err := w.Frames.Claim(context.Background(), worker, dispatch.OpenJob{}, 1); err != nil {
							t.Error(err)
						}
					}
				})
			}
			all.Go(func() {
				if _, err := pause(t, w, workspace, jobID, dispatch.ByWorkspace); err != nil {
					t.Error(err)
				}
			})
			all.Wait()
			w.WantNoFrame(workers[0])
			w.CheckTurns()
			_, err := ordered(t, w, func(ctx context.Context, tx *db.Tx) (job.Object, error) {
				return w.Jobs.FailByOperator(ctx, tx, jobID, "enough")
			})
			done(t, job.Object{}, err)
			w.CheckTurns()
		}
	})
}
