package frames_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/test/jobtest"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/framecheck"
	"svc.example/internal/work/job"
)

// world is a jobtest.World with what the tests of frames say of it.
type world struct{ *jobtest.World }

func each(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) { test(t, &world{w}) })
}

func TestAFailedFrameGoesToAnotherWorkerAsLongAsOneIsThere(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		jobID := w.Job(t, w.Workspace(t), 1)
		first, second := w.Worker(t), w.Worker(t)
		w.Fail(w.ClaimOne(first), fault.BlenderCrashed)
		w.WantNoFrame(first)
		w.Fail(w.ClaimOne(second), fault.BlenderCrashed)
		w.WantStatus(jobID, job.Rendering, "")
		// It failed on both, so either may render it again.
		w.Fail(w.ClaimOne(first), fault.BlenderCrashed)
		w.WantStatus(jobID, job.Failed, fault.BlenderCrashed)
	})
}

func TestAFailedFrameWaitsForAnotherWorkerThatIsOnline(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.Job(t, w.Workspace(t), 1)
		first, second := w.Worker(t), w.Worker(t)
		w.Fail(w.ClaimOne(first), fault.OutOfMemory)
		w.Advance(dispatch.WorkerOnline / 2)
		w.Seen(first, second)
		w.WantNoFrame(first)
		w.Advance(dispatch.WorkerOnline + time.Second) // the second one does not report
		w.Seen(first)
		w.ClaimOne(first)
	})
}

func TestALoneWorkerGetsItsFailedFramesAgain(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		jobID := w.Job(t, w.Workspace(t), 2)
		lone := w.Worker(t)
		w.Fail(w.ClaimOne(lone), fault.NoProgress)
		other := w.ClaimOne(lone)
		if other.Item != 2 {
			t.Fatalf("the worker got frame %d, want the one that it has not failed", other.Item)
		}
		w.Deliver(t, other, time.Second)
		again := w.ClaimOne(lone)
		if again.Item != 1 || again.Attempt != 2 {
			t.Fatalf("the worker got attempt %d of frame %d", again.Attempt, again.Item)
		}
		w.Deliver(t, again, time.Second)
		w.WantStatus(jobID, job.Packaging, "")
	})
}

// The first attempts of a job with many frames reveal a file that no worker can render,
// whichever frames those are.
func TestAJobWhoseFirstFramesFailAlikeFailsEarly(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		jobID := w.Job(t, w.Workspace(t), 1000)
		workers := []string{w.Worker(t), w.Worker(t), w.Worker(t)}
		for _, worker := range workers[:2] {
			w.Fail(w.ClaimOne(worker), fault.OutOfMemory)
			w.WantStatus(jobID, job.Rendering, "")
		}
		w.Fail(w.ClaimOne(workers[0]), fault.OutOfMemory)
		w.WantStatus(jobID, job.Failed, fault.OutOfMemory)
	})
}

func TestAJobWithAnAcceptedFrameDoesNotFailEarly(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		jobID := w.Job(t, w.Workspace(t), 10)
		workers := []string{w.Worker(t), w.Worker(t)}
		w.Deliver(t, w.ClaimOne(workers[0]), time.Second)
		for i := range 4 {
			w.Fail(w.Claim(t, workers[i%2], "", 1).Leases[0], fault.OutOfMemory)
		}
		w.WantStatus(jobID, job.Rendering, "")
	})
}

func TestWhatAWorkerLacksIsFinalOnlyWhenNobodyElseIsThere(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		workspace := w.Workspace(t)
		jobID := w.Job(t, workspace, 3)
		without, with := w.Worker(t), w.Worker(t)
		w.Fail(w.ClaimOne(without), fault.DenoiserUnavailable)
		w.WantNoFrame(without) // no frame of the job, not only the one that it tried
		for range 3 {
			w.Deliver(t, w.ClaimOne(with), time.Second)
		}
		w.WantStatus(jobID, job.Packaging, "")

		jobID = w.Job(t, workspace, 3)
		w.Fail(w.ClaimOne(without), fault.DenoiserUnavailable)
		w.Fail(w.ClaimOne(with), fault.DenoiserUnavailable)
		w.WantStatus(jobID, job.Failed, fault.DenoiserUnavailable)

		jobID = w.Job(t, workspace, 3)
		w.Fail(w.ClaimOne(without), fault.DenoiserUnavailable)
		w.Advance(dispatch.WorkerOnline + time.Second)
		w.Seen(without) // alone now: the job must not wait for ever
		w.Fail(w.ClaimOne(without), fault.DenoiserUnavailable)
		w.WantStatus(jobID, job.Rendering, "")
		w.Advance(dispatch.OtherKeyWait)
		w.Seen(without)
		w.decide()
		w.WantStatus(jobID, job.Failed, fault.DenoiserUnavailable)
	})
}

func TestAWorkerThatFailsWhatOthersRenderIsSuspendedAndRestored(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		workspace := w.Workspace(t)
		bad, good := w.Worker(t), w.Worker(t)
		spoil := func() {
			w.Job(t, workspace, 1)
			w.Fail(w.ClaimOne(bad), fault.BlenderCrashed)
			w.Deliver(t, w.ClaimOne(good), time.Second)
		}
		for range 3 {
			if w.suspendedFor(bad) > 0 {
				t.Fatal("the worker is suspended too early")
			}
			spoil()
		}
		first := w.suspendedFor(bad)
		if first <= 0 {
			t.Fatal("the worker is not suspended")
		}
		w.Job(t, workspace, 1)
		w.WantNoFrame(bad)
		w.Deliver(t, w.ClaimOne(good), time.Second)
		w.Advance(first + time.Second)
		w.Seen(bad, good)
		spoil() // on probation, one fault is enough
		second := w.suspendedFor(bad)
		if second <= first {
			t.Errorf("it is suspended for %s after %s, want longer", second, first)
		}
		w.Advance(second + time.Second)
		w.Seen(bad, good)
		for range 8 {
			w.Job(t, workspace, 1)
			w.Deliver(t, w.ClaimOne(bad), time.Second)
		}
		spoil()
		if again := w.suspendedFor(bad); again > 0 {
			t.Errorf("a worker that has rendered well since is suspended for %s by one fault", again)
		}
	})
}

func TestARestartDoesNotEndASuspension(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		workspace := w.Workspace(t)
		bad, good := w.Worker(t), w.Worker(t)
		for range 3 {
			w.Job(t, workspace, 1)
			w.Fail(w.ClaimOne(bad), fault.BlenderCrashed)
			w.Deliver(t, w.ClaimOne(good), time.Second)
		}
		left := w.suspendedFor(bad)
		w.markOffline(bad)
		again, other := w.registerAgain(bad, "test"), w.registerAgain(bad, "another of that key")
		if got := w.suspendedFor(again); got <= 0 || got > left {
			t.Errorf("the worker that came back is suspended for %s, before for %s", got, left)
		}
		if got := w.suspendedFor(other); got > 0 {
			t.Errorf("a worker of another name is suspended for %s", got)
		}
	})
}

func TestAWorkerThatStopsIsOfflineAtOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.Job(t, w.Workspace(t), 1)
		first, second := w.Worker(t), w.Worker(t)
		w.Fail(w.ClaimOne(first), fault.OutOfMemory)
		w.WantNoFrame(first) // it is the second's
		w.markOffline(second)
		w.Seen(second) // a call that it gave up arrives late
		w.ClaimOne(first)
		w.markOffline(first)
		w.Read(t, func(ctx context.Context, tx *db.Tx) error {
			workers, err := dispatch.ListWorkers(ctx, tx, time.Hour)
			for _, v := range workers {
				if v.State != dispatch.WorkerOffline {
					t.Errorf("a worker that left is %s", v.State)
				}
			}
			return err
		})
	})
}

// markOffline reports that a worker stops.
func (w *world) markOffline(worker string) {
	w.T.Helper()
	if err := w.Workers.MarkOffline(w.T.Context(), worker); err != nil {
		w.T.Fatal(err)
	}
}

// registerAgain registers another worker of a worker's key.
func (w *world) registerAgain(worker, name string) string {
	w.T.Helper()
	var again dispatch.Worker
	w.Read(w.T, func(ctx context.Context, tx *db.Tx) error {
		before, err := tx.WorkerGet(ctx, worker)
		if err != nil {
			return err
		}
		again = dispatch.Worker{KeyID: before.KeyID, Name: name, Renderer: "blender", BlenderVersion: "4.1.1", Device: "GPU", DeviceName: "a GPU"}
		return nil
	})
	workerID, err := w.Workers.Register(w.T.Context(), again)
	if err != nil {
		w.T.Fatal(err)
	}
	return workerID
}

func TestTheOperatorSeesTheStatesOfWorkers(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		workspace := w.Workspace(t)
		gone := w.Worker(t)
		w.Advance(dispatch.WorkerOnline + time.Second)
		bad, good, idle := w.Worker(t), w.Worker(t), w.Worker(t)
		for range 3 {
			w.Job(t, workspace, 1)
			w.Fail(w.ClaimOne(bad), fault.BlenderCrashed)
			w.Deliver(t, w.ClaimOne(good), time.Second)
		}
		w.Job(t, workspace, 1)
		w.ClaimOne(good)
		want := map[string]dispatch.WorkerState{
			gone: dispatch.WorkerOffline, bad: dispatch.WorkerSuspended, good: dispatch.WorkerRendering, idle: dispatch.WorkerIdle,
		}
		w.Read(t, func(ctx context.Context, tx *db.Tx) error {
			got, err := dispatch.ListWorkers(ctx, tx, time.Hour)
			if len(got) != len(want) {
				t.Errorf("%d workers are listed, want %d", len(got), len(want))
			}
			for _, v := range got {
				if v.State != want[v.WorkerID] || (v.SuspendedUntil != nil) != (v.State == dispatch.WorkerSuspended) || (v.Frames > 0) != (v.State == dispatch.WorkerRendering) {
					t.Errorf("%+v, want it to be %s", v, want[v.WorkerID])
				}
			}
			return err
		})
	})
}

func TestABrokenSceneSuspendsNoWorker(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		workspace := w.Workspace(t)
		workers := []string{w.Worker(t), w.Worker(t), w.Worker(t)}
		for range 5 {
			jobID := w.Job(t, workspace, 1)
			for _, worker := range workers {
				w.Fail(w.ClaimOne(worker), fault.BlenderCrashed)
			}
			w.WantStatus(jobID, job.Failed, fault.BlenderCrashed)
		}
		for _, worker := range workers {
			if w.suspendedFor(worker) > 0 {
				t.Error("a worker is suspended for a scene that no other could render")
			}
		}
	})
}

func TestTheLogOfAJobListsFailedAttempts(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		workspace := w.Workspace(t)
		jobID := w.Job(t, workspace, 1)
		lone := w.Worker(t)
		for range 3 {
			w.Fail(w.ClaimOne(lone), fault.OutOfMemory)
		}
		w.WantStatus(jobID, job.Failed, fault.OutOfMemory)
		var log bytes.Buffer
		if err := w.Watch.WriteLog(t.Context(), workspace, jobID, &log); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(log.String(), "out_of_memory"); got != 3 || !strings.Contains(log.String(), "last words") {
			t.Errorf("the log has %d failed attempts:\n%s", got, log.String())
		}
	})
}

func TestASilentWorkersFramesWaitAgain(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		jobID := w.Job(t, w.Workspace(t), 2)
		silent, other := w.Worker(t), w.Worker(t)
		w.ClaimOne(silent)
		w.ClaimOne(silent)
		w.WantNoFrame(other)
		w.Advance(w.Frames.LeaseLife + time.Second)
		if n, err := (lease.Reaper{DB: w.DB, Queues: []lease.Queue{w.Frames.Queue()}, Log: w.Frames.Log}).Run(t.Context()); err != nil || n != 2 {
			t.Fatalf("%d leases lapsed: %v", n, err)
		}
		w.CheckTurns()
		w.Deliver(t, w.ClaimOne(other), time.Second)
		w.Deliver(t, w.ClaimOne(other), time.Second)
		w.WantStatus(jobID, job.Packaging, "")
	})
}

// suspendedFor is the remaining time of a worker's suspension; negative without one.
func (w *world) suspendedFor(worker string) (left time.Duration) {
	w.T.Helper()
	w.Read(w.T, func(ctx context.Context, tx *db.Tx) error {
		row, err := tx.WorkerGet(ctx, worker)
		left = db.Time(row.SuspendedUntil).Sub(tx.Time())
		return err
	})
	return left
}

// So the first frames reveal a file that no worker can render.
func TestAFailedFrameComesAgainBeforeTheRestOfItsJob(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.Job(t, w.Workspace(t), 5)
		first, second := w.Worker(t), w.Worker(t)
		failed := w.ClaimOne(first)
		if err := w.Frames.Fail(t.Context(), failed.Ref(), framecheck.Failure{Code: fault.BlenderCrashed, Message: "it failed"}); err != nil {
			t.Fatal(err)
		}
		if got := w.ClaimOne(second); got.Item != 2 {
			t.Fatalf("during the pause of frame 1 the others continue: got frame %d", got.Item)
		}
		w.Advance(2 * time.Second)
		if got := w.ClaimOne(second); got.Item != failed.Item || got.Failures != 1 {
			t.Fatalf("got frame %d", got.Item)
		}
	})
}

// TestAWorkerLearnsWhichSceneWasPriced with the first frame of a job, when it opens the
// file.
func TestAWorkerLearnsWhichSceneWasPriced(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		jobID, worker := w.JobOver(t, w.Workspace(t), 3, strings.Repeat("a", 64), `{"name": "Shot", "frame_width": 8, "frame_height": 6}`), w.Worker(t)
		first := w.Claim(t, worker, "", 1)
		next := w.Claim(t, worker, jobID, 1)
		if first.Scene != "Shot" || next.Scene != "" {
			t.Errorf("the first frame is of the scene %q, the next one says %q", first.Scene, next.Scene)
		}
	})
}
