package frames_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/render/buildoption"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/framecheck"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/job"
)

// decide does what the service does every few seconds about undecided failures.
func (w *world) decide() {
	w.T.Helper()
	if err := w.Frames.DecideFailures(w.T.Context()); err != nil {
		w.T.Fatal(err)
	}
}

// failFinally reports that no worker can render a frame.
func (w *world) failFinally(l lease.Lease) {
	w.T.Helper()
	if err := w.Frames.Fail(w.T.Context(), l.Ref(), framecheck.Failure{Code: fault.OutOfMemory, Message: "it can never be", Final: true}); err != nil {
		w.T.Fatal(err)
	}
	w.Advance(2 * time.Second)
}

// wantReason checks why a job waits; "" is for no reason.
func (w *world) wantReason(workspace, jobID string, want job.WaitingReason) {
	w.T.Helper()
	o, err := w.Jobs.Get(w.T.Context(), workspace, jobID)
	if err != nil {
		w.T.Fatal(err)
	}
	if got := o.WaitingReason; (got == nil) != (want == "") || (got != nil && *got != want) {
		w.T.Errorf("the job waits because of %v, want %q", got, want)
	}
}

// One key can have any number of workers, and can say that a failure is final.
func TestWorkersOfOneKeyFailNoJobWhileAnotherKeyIsThere(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		jobID := w.Job(t, w.Workspace(t), 1)
		liar := w.NodeKey(t)
		liars := []string{w.WorkerOf(t, liar), w.WorkerOf(t, liar), w.WorkerOf(t, liar)}
		honest := w.Worker(t)
		w.failFinally(w.ClaimOne(liars[0]))
		w.WantStatus(jobID, job.Rendering, "")
		for _, worker := range liars {
			w.WantNoFrame(worker)
		}
		w.Deliver(t, w.ClaimOne(honest), time.Second)
		w.decide()
		w.WantStatus(jobID, job.Packaging, "")
	})
}

func TestAFailedFrameGoesToAWorkerOfAnotherKeyFirst(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		jobID := w.Job(t, w.Workspace(t), 2)
		key := w.NodeKey(t)
		first, second, other := w.WorkerOf(t, key), w.WorkerOf(t, key), w.Worker(t)
		w.Fail(w.ClaimOne(first), fault.BlenderCrashed)
		if got := w.ClaimOne(second); got.Item != 2 {
			t.Fatalf("a worker of the key that failed frame 1 got frame %d", got.Item)
		}
		w.Fail(w.ClaimOne(other), fault.BlenderCrashed)
		// Both keys have failed it: a worker that has not tried it yet is next.
		w.WantNoFrame(first)
		w.WantNoFrame(other)
		got := w.ClaimOne(second)
		if got.Item != 1 || got.Attempt != 3 {
			t.Fatalf("got attempt %d of frame %d", got.Attempt, got.Item)
		}
		w.Fail(got, fault.BlenderCrashed)
		w.WantStatus(jobID, job.Failed, fault.BlenderCrashed)
	})
}

func TestAFarmOfOneKeyFailsABrokenSceneWithoutAWait(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		workspace, key := w.Workspace(t), w.NodeKey(t)
		workers := []string{w.WorkerOf(t, key), w.WorkerOf(t, key)}
		for name, broken := range map[string]func(jobID string){
			"three attempts": func(string) {
				for i := range 3 {
					w.Fail(w.ClaimOne(workers[i%2]), fault.BlenderCrashed)
				}
			},
			"final": func(string) { w.failFinally(w.ClaimOne(workers[0])) },
			"nobody has a denoiser": func(string) {
				w.Fail(w.ClaimOne(workers[0]), fault.DenoiserUnavailable)
				w.Fail(w.ClaimOne(workers[1]), fault.DenoiserUnavailable)
			},
		} {
			jobID := w.Job(t, workspace, 1)
			broken(jobID)
			if status, _ := w.Status(jobID); status != job.Failed {
				t.Errorf("%s: the job is %s, want failed", name, status)
			}
		}
	})
}

// undecided makes a job whose only frame the workers of one key have failed three times
// while that of another key, which was online before, was away.
func (w *world) undecided(workspace, here, away string) (jobID string) {
	w.T.Helper()
	w.Seen(here, away)
	w.Advance(dispatch.WorkerOnline + time.Second)
	w.Seen(here)
	jobID = w.Job(w.T, workspace, 1)
	for range 3 {
		w.Fail(w.ClaimOne(here), fault.BlenderCrashed)
	}
	w.WantStatus(jobID, job.Rendering, "")
	w.WantNoFrame(here) // a fourth crash would show nothing new
	w.wantReason(workspace, jobID, job.NoCapableWorker)
	return jobID
}

func TestAFailureWaitsForAnotherKeyAnHourAtMost(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		workspace, here, away := w.Workspace(t), w.Worker(t), w.Worker(t)
		jobID := w.undecided(workspace, here, away)
		w.Advance(dispatch.OtherKeyWait - 5*time.Minute)
		w.Seen(here)
		w.decide()
		w.WantStatus(jobID, job.Rendering, "")
		w.Advance(5 * time.Minute)
		w.Seen(here)
		w.decide()
		w.WantStatus(jobID, job.Failed, fault.BlenderCrashed)
	})
}

func TestAnotherKeysWordDecidesAtOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		workspace, here, away := w.Workspace(t), w.Worker(t), w.Worker(t)
		jobID := w.undecided(workspace, here, away)
		w.Seen(away)
		w.wantReason(workspace, jobID, "") // it takes the frame with its next request
		w.Fail(w.ClaimOne(away), fault.BlenderCrashed)
		w.WantStatus(jobID, job.Failed, fault.BlenderCrashed)

		jobID = w.undecided(workspace, here, away)
		w.Seen(away)
		w.Deliver(t, w.ClaimOne(away), time.Second)
		w.decide()
		w.WantStatus(jobID, job.Packaging, "")
	})
}

// Two keys that each failed another frame must not wait for each other.
func TestTwoKeysThatAwaitEachOthersWordGetTheFrameInQuestion(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		jobID := w.Job(t, w.Workspace(t), 3)
		one, two := w.Worker(t), w.Worker(t)
		first, second := w.ClaimOne(one), w.ClaimOne(two)
		w.failFinally(first)
		w.failFinally(second)
		got := w.ClaimOne(one)
		if got.Item != second.Item {
			t.Fatalf("got frame %d, want %d, which the other key failed", got.Item, second.Item)
		}
		w.WantNoFrame(one)
		w.Deliver(t, got, time.Second)
		w.failFinally(w.ClaimOne(two)) // frame 1: both keys have failed it
		w.WantStatus(jobID, job.Failed, fault.OutOfMemory)
	})
}

func TestNobodyWaitsForAKeyThatCannotRenderTheJob(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		jobID := w.Job(t, w.Workspace(t), 1)
		able, unable := w.Worker(t), w.Worker(t)
		w.Fail(w.ClaimOne(unable), fault.DenoiserUnavailable)
		for range 3 {
			w.Fail(w.ClaimOne(able), fault.BlenderCrashed)
		}
		w.WantStatus(jobID, job.Failed, fault.BlenderCrashed)
	})
}

// A worker whose Blender lacks what the scene needs gets no frame that another one failed,
// and no failure waits for it.
func TestAFailedFrameGoesToNoWorkerWhoseBlenderIsNotBuiltForIt(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		jobID := w.JobThatNeeds(t, w.Workspace(t), 1, buildoption.Alembic)
		able, key := w.Worker(t), w.NodeKey(t)
		lacking := w.WorkerThatLacks(t, key, buildoption.Alembic)
		for range 2 {
			w.Fail(w.ClaimOne(able), fault.BlenderCrashed)
			w.WantNoFrame(lacking)
		}
		w.Fail(w.ClaimOne(able), fault.BlenderCrashed)
		w.WantStatus(jobID, job.Failed, fault.BlenderCrashed)
	})
}

func TestAnotherKeysWordIsAskedOnlyWhereItsBlenderIsBuiltForTheJob(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		jobID := w.JobThatNeeds(t, w.Workspace(t), 1, buildoption.Alembic)
		here, key := w.Worker(t), w.NodeKey(t)
		lacking, able := w.WorkerThatLacks(t, key, buildoption.Alembic), w.WorkerThatLacks(t, key, buildoption.USD)
		w.failFinally(w.ClaimOne(here))
		w.WantStatus(jobID, job.Rendering, "")
		w.WantNoFrame(lacking)
		w.WantNoFrame(here)
		w.Deliver(t, w.ClaimOne(able), time.Second)
		w.WantStatus(jobID, job.Packaging, "")
	})
}

func TestAKeyThatIsThereAndNeverAsksIsWaitedForADayAtMost(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		workspace, here, idle := w.Workspace(t), w.Worker(t), w.Worker(t)
		jobID := w.undecided(workspace, here, idle)
		for range 5 {
			w.Seen(here, idle)
			w.decide()
			w.WantStatus(jobID, job.Rendering, "")
			w.Advance(dispatch.LongestUndecided / 5)
		}
		w.Seen(here, idle)
		w.decide()
		w.WantStatus(jobID, job.Failed, fault.BlenderCrashed)
	})
}

// The key that could not decide alone renders the rest of the job.
func TestAKeyGetsTheJobBackOnceAnotherRenderedItsFrame(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		jobID := w.Job(t, w.Workspace(t), 2)
		here, other := w.Worker(t), w.Worker(t)
		w.failFinally(w.ClaimOne(here))
		w.WantNoFrame(here)
		w.Deliver(t, w.ClaimOne(other), time.Second)
		w.WantNoFrame(here)
		w.decide()
		w.Deliver(t, w.ClaimOne(here), time.Second)
		w.WantStatus(jobID, job.Packaging, "")
	})
}

func TestFailuresOfARevokedKeyCountForNobody(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		jobID := w.Job(t, w.Workspace(t), 1)
		revoked, first, second := w.NodeKey(t), w.Worker(t), w.Worker(t)
		w.failFinally(w.ClaimOne(w.WorkerOf(t, revoked)))
		w.Write(t, func(ctx context.Context, tx *db.Tx) error { return identity.Revoke(ctx, tx, revoked) })
		w.Fail(w.ClaimOne(first), fault.BlenderCrashed)
		w.Fail(w.ClaimOne(second), fault.BlenderCrashed)
		w.WantStatus(jobID, job.Rendering, "") // two attempts that count
		w.Fail(w.ClaimOne(first), fault.BlenderCrashed)
		w.WantStatus(jobID, job.Failed, fault.BlenderCrashed)
	})
}

// failMost lets workers of a key, each under a name of its own, fail n frames that
// another worker then renders.
func (w *world) failMost(workspace, liar, honest string, n int) {
	w.T.Helper()
	for i := range n {
		w.Job(w.T, workspace, 1)
		w.Fail(w.ClaimOne(w.registerAgain(liar, fmt.Sprint(i))), fault.BlenderCrashed)
		w.Seen(honest)
		w.Deliver(w.T, w.ClaimOne(honest), time.Second)
	}
}

// pauseKeys does what the service does every few seconds, and returns the paused keys.
func (w *world) pauseKeys() (paused []dispatch.PausedKey) {
	w.T.Helper()
	if err := w.Workers.PauseKeys(w.T.Context()); err != nil {
		w.T.Fatal(err)
	}
	w.Read(w.T, func(ctx context.Context, tx *db.Tx) (err error) {
		paused, err = dispatch.PausedKeys(ctx, tx)
		return err
	})
	return paused
}

func TestAKeyThatFailsWhatOthersRenderIsPausedAndTheOperatorTold(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		var log bytes.Buffer
		w.Workers.Log = slog.New(slog.NewTextHandler(&log, nil))
		workspace, liar, honest := w.Workspace(t), w.Worker(t), w.Worker(t)
		w.failMost(workspace, liar, honest, 19)
		if paused := w.pauseKeys(); len(paused) != 0 {
			t.Fatalf("%+v after too few attempts", paused)
		}
		w.failMost(workspace, liar, honest, 1)
		paused := w.pauseKeys()
		if len(paused) != 1 || paused[0].Failed != 20 || paused[0].Attempts != 20 {
			t.Fatalf("paused: %+v", paused)
		}
		if !strings.Contains(log.String(), "node key paused") || !strings.Contains(log.String(), paused[0].KeyID) {
			t.Errorf("the operator is not told: %s", log.String())
		}
		jobID := w.Job(t, workspace, 1)
		w.WantNoFrame(liar)
		w.WantNoFrame(w.registerAgain(liar, "under a new name"))
		w.Seen(honest)
		w.Fail(w.ClaimOne(honest), fault.BlenderCrashed)
		w.failFinally(w.ClaimOne(honest)) // no failure waits for a paused key
		w.WantStatus(jobID, job.Failed, fault.OutOfMemory)

		// A pause ends automatically, and the next one is longer.
		first := paused[0].Until
		w.Advance(2 * time.Minute)
		w.failMost(workspace, liar, honest, 20)
		if paused = w.pauseKeys(); len(paused) != 1 || paused[0].Times != 2 || !paused[0].Until.After(first) {
			t.Errorf("paused again: %+v", paused)
		}
	})
}

func TestABrokenScenePausesNoKey(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		workspace, workers := w.Workspace(t), []string{w.Worker(t), w.Worker(t)}
		for range 20 {
			jobID := w.Job(t, workspace, 1)
			w.Seen(workers...)
			for i := range 3 {
				w.Fail(w.ClaimOne(workers[i%2]), fault.BlenderCrashed)
			}
			w.WantStatus(jobID, job.Failed, fault.BlenderCrashed)
		}
		if paused := w.pauseKeys(); len(paused) != 0 {
			t.Errorf("paused: %+v", paused)
		}
	})
}
