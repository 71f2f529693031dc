package render_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/render"
)

func TestAFailedFrameGoesToAnotherWorkerAsLongAsOneIsThere(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		job := w.job(t, w.workspace(t), 1)
		first, second := w.worker(t), w.worker(t)
		w.fail(w.take(first), fault.BlenderCrashed)
		w.wantNothing(first)
		w.fail(w.take(second), fault.BlenderCrashed)
		w.wantStatus(job, render.Rendering, "")
		// Both have failed it, so anyone may try.
		w.fail(w.take(first), fault.BlenderCrashed)
		w.wantStatus(job, render.Failed, fault.BlenderCrashed)
	})
}

func TestAFailedFrameWaitsForAnotherWorkerThatIsOnline(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.job(t, w.workspace(t), 1)
		first, second := w.worker(t), w.worker(t)
		w.fail(w.take(first), fault.OutOfMemory)
		w.pass(render.WorkerOnline / 2)
		w.seen(first, second)
		w.wantNothing(first)
		w.pass(render.WorkerOnline + time.Second) // nothing is heard of the second
		w.seen(first)
		w.take(first)
	})
}

func TestALoneWorkerGetsItsFailedFramesAgain(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		job := w.job(t, w.workspace(t), 2)
		lone := w.worker(t)
		w.fail(w.take(lone), fault.NoProgress)
		other := w.take(lone)
		if other.Item != 2 {
			t.Fatalf("the worker got frame %d, want the one that it has not failed", other.Item)
		}
		w.deliver(t, other, time.Second)
		again := w.take(lone)
		if again.Item != 1 || again.Attempt != 2 {
			t.Fatalf("the worker got attempt %d of frame %d", again.Attempt, again.Item)
		}
		w.deliver(t, again, time.Second)
		w.wantStatus(job, render.Packaging, "")
	})
}

// A job of many frames whose file no worker can render is found out by its first
// tries, whichever frames those are.
func TestAJobWhoseFirstFramesFailAlikeFailsEarly(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		job := w.job(t, w.workspace(t), 1000)
		workers := []string{w.worker(t), w.worker(t), w.worker(t)}
		for _, worker := range workers[:2] {
			w.fail(w.take(worker), fault.OutOfMemory)
			w.wantStatus(job, render.Rendering, "")
		}
		w.fail(w.take(workers[0]), fault.OutOfMemory)
		w.wantStatus(job, render.Failed, fault.OutOfMemory)
	})
}

func TestAJobThatHasBegunWellDoesNotFailEarly(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		job := w.job(t, w.workspace(t), 10)
		workers := []string{w.worker(t), w.worker(t)}
		w.deliver(t, w.take(workers[0]), time.Second)
		for i := range 4 {
			w.fail(w.claim(t, workers[i%2], "", 1).Leases[0], fault.OutOfMemory)
		}
		w.wantStatus(job, render.Rendering, "")
	})
}

func TestWhatAWorkerLacksIsFinalOnlyWhenNobodyElseIsThere(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		workspace := w.workspace(t)
		job := w.job(t, workspace, 3)
		without, with := w.worker(t), w.worker(t)
		w.fail(w.take(without), fault.DenoiserUnavailable)
		w.wantNothing(without) // no frame of the job, not only the one that it tried
		for range 3 {
			w.deliver(t, w.take(with), time.Second)
		}
		w.wantStatus(job, render.Packaging, "")

		job = w.job(t, workspace, 3)
		w.fail(w.take(without), fault.DenoiserUnavailable)
		w.fail(w.take(with), fault.DenoiserUnavailable)
		w.wantStatus(job, render.Failed, fault.DenoiserUnavailable)

		job = w.job(t, workspace, 3)
		w.fail(w.take(without), fault.DenoiserUnavailable)
		w.pass(render.WorkerOnline + time.Second)
		w.seen(without) // alone now: the job must not wait for ever
		w.fail(w.take(without), fault.DenoiserUnavailable)
		w.wantStatus(job, render.Failed, fault.DenoiserUnavailable)
	})
}

func TestAWorkerThatFailsWhatOthersRenderIsSetAsideAndForgiven(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		workspace := w.workspace(t)
		bad, good := w.worker(t), w.worker(t)
		spoil := func() {
			w.job(t, workspace, 1)
			w.fail(w.take(bad), fault.BlenderCrashed)
			w.deliver(t, w.take(good), time.Second)
		}
		for range 3 {
			if w.asideUntil(bad) > 0 {
				t.Fatal("the worker is set aside too early")
			}
			spoil()
		}
		first := w.asideUntil(bad)
		if first <= 0 {
			t.Fatal("the worker is not set aside")
		}
		w.job(t, workspace, 1)
		w.wantNothing(bad)
		w.deliver(t, w.take(good), time.Second)
		w.pass(first + time.Second)
		w.seen(bad, good)
		spoil() // on probation, one fault is enough
		second := w.asideUntil(bad)
		if second <= first {
			t.Errorf("it is set aside for %s after %s, want longer", second, first)
		}
		w.pass(second + time.Second)
		w.seen(bad, good)
		for range 8 {
			w.job(t, workspace, 1)
			w.deliver(t, w.take(bad), time.Second)
		}
		spoil()
		if again := w.asideUntil(bad); again > 0 {
			t.Errorf("a worker that has rendered well since is set aside for %s by one fault", again)
		}
	})
}

func TestAWorkerThatIsStartedAgainIsStillSetAside(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		workspace := w.workspace(t)
		bad, good := w.worker(t), w.worker(t)
		for range 3 {
			w.job(t, workspace, 1)
			w.fail(w.take(bad), fault.BlenderCrashed)
			w.deliver(t, w.take(good), time.Second)
		}
		left := w.asideUntil(bad)
		w.leave(bad)
		again, other := w.again(bad, "test"), w.again(bad, "another of that key")
		if got := w.asideUntil(again); got <= 0 || got > left {
			t.Errorf("the worker that came back is set aside for %s, before for %s", got, left)
		}
		if got := w.asideUntil(other); got > 0 {
			t.Errorf("a worker of another name is set aside for %s", got)
		}
	})
}

func TestAWorkerThatLeavesIsOfflineAtOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.job(t, w.workspace(t), 1)
		first, second := w.worker(t), w.worker(t)
		w.fail(w.take(first), fault.OutOfMemory)
		w.wantNothing(first) // it is the second's
		w.leave(second)
		w.take(first)
		w.leave(first)
		w.read(t, func(ctx context.Context, tx *db.Tx) error {
			workers, err := render.Workers(ctx, tx, time.Hour)
			for _, v := range workers {
				if v.State != render.WorkerOffline {
					t.Errorf("a worker that left is %s", v.State)
				}
			}
			return err
		})
	})
}

// leave has a worker say that it stops.
func (w *world) leave(worker string) {
	w.t.Helper()
	w.write(w.t, func(ctx context.Context, tx *db.Tx) error { return render.Leave(ctx, tx, worker) })
}

// again registers another worker of a worker's key.
func (w *world) again(worker, name string) (workerID string) {
	w.t.Helper()
	workerID = id.New(id.Node)
	w.write(w.t, func(ctx context.Context, tx *db.Tx) error {
		before, err := tx.WorkerGet(ctx, worker)
		if err != nil {
			return err
		}
		err = tx.WorkerCreate(ctx, query.WorkerCreateParams{
			WorkerID: workerID, KeyID: before.KeyID, Name: name, Renderer: "blender", BlenderVersion: "4.1.1", Device: "GPU", DeviceName: "a GPU", RegisteredAt: tx.Now, SeenAt: tx.Now,
		})
		if err != nil {
			return err
		}
		return render.Return(ctx, tx, workerID, before.KeyID, name)
	})
	return workerID
}

func TestTheOperatorSeesWhatWorkersAreUpTo(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		workspace := w.workspace(t)
		gone := w.worker(t)
		w.pass(render.WorkerOnline + time.Second)
		bad, good, idle := w.worker(t), w.worker(t), w.worker(t)
		for range 3 {
			w.job(t, workspace, 1)
			w.fail(w.take(bad), fault.BlenderCrashed)
			w.deliver(t, w.take(good), time.Second)
		}
		w.job(t, workspace, 1)
		w.take(good)
		want := map[string]render.WorkerState{
			gone: render.WorkerOffline, bad: render.WorkerSetAside, good: render.WorkerRendering, idle: render.WorkerIdle,
		}
		w.read(t, func(ctx context.Context, tx *db.Tx) error {
			got, err := render.Workers(ctx, tx, time.Hour)
			if len(got) != len(want) {
				t.Errorf("%d workers are listed, want %d", len(got), len(want))
			}
			for _, v := range got {
				if v.State != want[v.WorkerID] || (v.AsideUntil != nil) != (v.State == render.WorkerSetAside) || (v.Frames > 0) != (v.State == render.WorkerRendering) {
					t.Errorf("%+v, want it to be %s", v, want[v.WorkerID])
				}
			}
			return err
		})
	})
}

func TestABrokenSceneSetsNoWorkerAside(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		workspace := w.workspace(t)
		workers := []string{w.worker(t), w.worker(t), w.worker(t)}
		for range 5 {
			job := w.job(t, workspace, 1)
			for _, worker := range workers {
				w.fail(w.take(worker), fault.BlenderCrashed)
			}
			w.wantStatus(job, render.Failed, fault.BlenderCrashed)
		}
		for _, worker := range workers {
			if w.asideUntil(worker) > 0 {
				t.Error("a worker is set aside for what no other could render")
			}
		}
	})
}

func TestTheLogOfAJobTellsWhatFailed(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		workspace := w.workspace(t)
		job := w.job(t, workspace, 1)
		lone := w.worker(t)
		for range 3 {
			w.fail(w.take(lone), fault.OutOfMemory)
		}
		w.wantStatus(job, render.Failed, fault.OutOfMemory)
		var log bytes.Buffer
		if err := w.WriteLog(t.Context(), workspace, job, &log); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(log.String(), "out_of_memory"); got != 3 || !strings.Contains(log.String(), "last words") {
			t.Errorf("the log tells of %d failed tries:\n%s", got, log.String())
		}
	})
}

func TestASilentWorkersFramesWaitAgain(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		job := w.job(t, w.workspace(t), 2)
		silent, other := w.worker(t), w.worker(t)
		w.take(silent)
		w.take(silent)
		w.wantNothing(other)
		w.pass(w.LeaseLife + time.Second)
		if n, err := (lease.Reaper{DB: w.DB, Queues: w.Queues(), Log: w.Log}).Run(t.Context()); err != nil || n != 2 {
			t.Fatalf("%d leases lapsed: %v", n, err)
		}
		w.wantTrueTurns()
		w.deliver(t, w.take(other), time.Second)
		w.deliver(t, w.take(other), time.Second)
		w.wantStatus(job, render.Packaging, "")
	})
}

// asideUntil is how long a worker is set aside from now on; below 0 when it is not.
func (w *world) asideUntil(worker string) (left time.Duration) {
	w.t.Helper()
	w.read(w.t, func(ctx context.Context, tx *db.Tx) error {
		row, err := tx.WorkerGet(ctx, worker)
		left = db.Time(row.AsideUntil).Sub(tx.Time())
		return err
	})
	return left
}

// A file that no worker can render is so found out by its first frames.
func TestAFailedFrameComesAgainBeforeTheRestOfItsJob(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.job(t, w.workspace(t), 5)
		first, second := w.worker(t), w.worker(t)
		failed := w.take(first)
		if err := w.FailFrame(t.Context(), failed.Ref(), render.Failure{Code: fault.BlenderCrashed, Message: "it failed"}); err != nil {
			t.Fatal(err)
		}
		if got := w.take(second); got.Item != 2 {
			t.Fatalf("during the pause of frame 1 the rest goes on: got frame %d", got.Item)
		}
		w.pass(2 * time.Second)
		if got := w.take(second); got.Item != failed.Item || got.Failures != 1 {
			t.Fatalf("got frame %d", got.Item)
		}
	})
}
