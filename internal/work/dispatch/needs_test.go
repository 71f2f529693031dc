package dispatch_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/render/buildoption"
	"svc.example/internal/test/jobtest"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/job"
)

// TestNoWorkerGetsAFrameThatItsBlenderIsNotBuiltFor renders mixes of jobs with workers that
// lack different options. It also checks the reason that a waiting job gives.
func TestNoWorkerGetsAFrameThatItsBlenderIsNotBuiltFor(t *testing.T) {
	options := []buildoption.Option{buildoption.Alembic, buildoption.OSL, buildoption.Movies}
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		seen := map[job.WaitingReason]int{}
		for seed := range mixes() / 4 {
			r := rand.New(rand.NewPCG(uint64(seed), 2))
			s := newSim(t, w, 1) // it has everything, so that all jobs end
			lacks := map[string]buildoption.Set{}
			for range 1 + r.IntN(3) {
				missing := options[r.IntN(len(options)):]
				worker := &simWorker{id: w.WorkerThatLacks(t, w.NodeKey(t), missing...)}
				s.workers, lacks[worker.id] = append(s.workers, worker), buildoption.Of(missing...)
			}
			needs := map[string]buildoption.Set{}
			for range 1 + r.IntN(3) {
				workspace := w.Workspace(t)
				for range 1 + r.IntN(3) {
					option := options[r.IntN(len(options))]
					frames := 1 + r.IntN(5)
					j := &simJob{id: w.JobThatNeeds(t, workspace, frames, option), workspace: workspace, frame: time.Duration(200+r.IntN(5000)) * time.Millisecond, left: frames}
					s.jobs[j.id], needs[j.id] = j, buildoption.Of(option)
				}
			}
			// One frame of a job fails on the worker that can render it: it is its again.
			s.workers[0].flaky = true
			for s.busy() {
				s.step()
				for _, worker := range s.workers {
					for _, l := range worker.has {
						if lacks[worker.id]&needs[l.Subject] != 0 {
							t.Fatalf("a worker that lacks %v got a frame that needs %v", lacks[worker.id].Options(), needs[l.Subject].Options())
						}
					}
				}
				for id, j := range s.jobs {
					if j.left > 0 {
						seen[s.checkReason(id)]++
					}
				}
				s.keepOnline()
			}
			s.sendHome()
		}
		t.Logf("reasons: %v", seen)
	})
}

func TestAJobThatNoWorkerIsBuiltForWaitsForOneThatIs(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		plain := w.WorkerThatLacks(t, w.NodeKey(t), buildoption.Alembic, buildoption.USD)
		workspace := w.Workspace(t)
		birds := w.JobThatNeeds(t, workspace, 2, buildoption.Alembic)
		wantReason(t, w, workspace, birds, job.NoCapableWorker)
		w.WantNoFrame(plain)
		later := w.Job(t, workspace, 1)
		if first, second := position(t, w, workspace, later), position(t, w, workspace, birds); first != 1 || second != 2 {
			t.Errorf("the places are %d and %d: what no worker may take comes last", first, second)
		}
		if l := w.ClaimOne(plain); l.Subject != later {
			t.Errorf("the worker got a frame of %s, want %s", l.Subject, later)
		}
		able := w.Worker(t)
		wantReason(t, w, workspace, birds, "")
		first := w.ClaimOne(able)
		if first.Subject != birds {
			t.Errorf("the worker that has all got a frame of %s", first.Subject)
		}
		// No other worker is available for a frame that failed.
		w.Fail(first, fault.BlenderCrashed)
		w.Seen(plain, able)
		again := w.ClaimOne(able)
		w.Deliver(t, again, time.Second)
		w.Deliver(t, w.ClaimOne(able), time.Second)
		w.CheckTurns()
	})
}

// A worker whose Blender does not have what a job needs is not available for it: a worker
// that failed its frames does not wait for it.
func TestNobodyWaitsForAWorkerWhoseBlenderIsNotBuiltForTheJob(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		w.WorkerThatLacks(t, w.NodeKey(t), buildoption.USD)
		workspace, key := w.Workspace(t), w.NodeKey(t)
		first, same := w.WorkerOf(t, key), w.WorkerOf(t, key)
		jobID := w.JobThatNeeds(t, workspace, 1, buildoption.USD)
		w.Fail(w.ClaimOne(first), fault.BlenderCrashed)
		wantReason(t, w, workspace, jobID, "")
		w.Deliver(t, w.ClaimOne(same), time.Second) // the same key's, at once

		jobID = w.JobThatNeeds(t, workspace, 2, buildoption.USD)
		w.Fail(w.ClaimOne(same), fault.DenoiserUnavailable)
		leave(t, w, first)
		for range 2 { // alone now: the frame that it failed, and the other
			wantReason(t, w, workspace, jobID, "")
			w.Deliver(t, w.ClaimOne(same), time.Second)
		}

		jobID = w.JobThatNeeds(t, workspace, 1, buildoption.USD)
		w.Fail(w.ClaimOne(same), fault.DenoiserUnavailable)
		w.WantStatus(jobID, job.Failed, fault.DenoiserUnavailable)
	})
}

func TestAFrameThatFailedOnTheOnlyCapableWorkerIsItsAgain(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		w.WorkerThatLacks(t, w.NodeKey(t), buildoption.USD) // it idles
		workspace, able := w.Workspace(t), w.Worker(t)
		w.Job(t, workspace, 1)
		other := w.ClaimOne(able)
		jobID := w.JobThatNeeds(t, workspace, 1, buildoption.USD)
		w.Fail(w.ClaimOne(able), fault.BlenderCrashed)
		wantReason(t, w, workspace, jobID, job.WorkersBusy)
		w.Deliver(t, other, time.Second)
		wantReason(t, w, workspace, jobID, "")
		w.Deliver(t, w.ClaimOne(able), time.Second)
	})
}

// leave reports that a worker stops.
func leave(t *testing.T, w *jobtest.World, worker string) {
	t.Helper()
	if err := w.Workers.MarkOffline(t.Context(), worker); err != nil {
		t.Fatal(err)
	}
}

func TestWhatAWorkerLacksIsOfferedOncePerCombination(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		for range 2 {
			w.WorkerThatLacks(t, w.NodeKey(t), buildoption.OSL)
		}
		w.Worker(t)
		w.Read(t, func(ctx context.Context, tx *db.Tx) error {
			offer, err := dispatch.Offered(ctx, tx, "")
			slices.Sort(offer.Lacks)
			if want := []buildoption.Set{0, buildoption.Of(buildoption.OSL)}; !slices.Equal(offer.Lacks, want) {
				t.Errorf("the workers lack %v, want %v", offer.Lacks, want)
			}
			return err
		})
	})
}

func wantReason(t *testing.T, w *jobtest.World, workspace, jobID string, want job.WaitingReason) {
	t.Helper()
	o, err := w.Jobs.Get(t.Context(), workspace, jobID)
	if err != nil {
		t.Fatal(err)
	}
	got := job.WaitingReason("")
	if o.WaitingReason != nil {
		got = *o.WaitingReason
	}
	if got != want {
		t.Errorf("the job waits because of %q, want %q", got, want)
	}
	if want == job.NoCapableWorker && o.ETASeconds != nil {
		t.Errorf("it ends in %v s, and no worker may take it", *o.ETASeconds)
	}
}

func position(t *testing.T, w *jobtest.World, workspace, jobID string) int {
	t.Helper()
	o, err := w.Jobs.Get(t.Context(), workspace, jobID)
	if err != nil {
		t.Fatal(err)
	}
	if o.QueuePosition == nil {
		return 0
	}
	return *o.QueuePosition
}
