package dispatch_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/test/jobtest"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/job"
	"svc.example/internal/work/operator"
)

// require sets the tags that a workspace requires, as an operator does.
func require(t *testing.T, w *jobtest.World, workspace string, tags ...string) {
	t.Helper()
	perform(t, w, func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
		return operator.RequireTags(ctx, tx, workspace, tags)
	})
}

// limit sets how many frames of a workspace may be rendered at once.
func limit(t *testing.T, w *jobtest.World, workspace string, most int64) {
	t.Helper()
	perform(t, w, func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
		return operator.LimitFrames(ctx, tx, workspace, most)
	})
}

func perform(t *testing.T, w *jobtest.World, propose func(ctx context.Context, tx *db.Tx) (operator.Act, error)) {
	t.Helper()
	w.Write(t, func(ctx context.Context, tx *db.Tx) error {
		act, err := propose(ctx, tx)
		if err != nil {
			return err
		}
		return act.Perform(ctx, tx, operator.Account("test"))
	})
}

// TestFramesGoToWorkersWithAllRequiredTags, of jobs that already wait and of those that come,
// until the workspace requires none any more.
func TestFramesGoToWorkersWithAllRequiredTags(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		workspace, other := w.Workspace(t), w.Workspace(t)
		jobID := w.Job(t, workspace, 4)
		plain, one, both := w.TaggedWorker(t, false), w.TaggedWorker(t, false, "rtx"), w.TaggedWorker(t, false, "rtx", "studio-b")
		require(t, w, workspace, "studio-b", "rtx")
		w.WantNoFrame(plain)
		w.WantNoFrame(one)
		if l := w.ClaimOne(both); l.Subject != jobID {
			t.Errorf("the worker with all tags got %s", l.Subject)
		}
		later := w.TaggedWorker(t, false, "other", "rtx", "studio-b") // it registers after the tags were required
		if l := w.ClaimOne(later); l.Subject != jobID {
			t.Errorf("a worker that came later got %s", l.Subject)
		}
		next := w.Job(t, workspace, 1)
		w.WantNoFrame(one)
		free := w.Job(t, other, 1)
		if l := w.ClaimOne(one); l.Subject != free {
			t.Errorf("a worker with tags got %s of a workspace without; want %s", l.Subject, free)
		}
		require(t, w, workspace)
		if l := w.ClaimOne(plain); l.Subject != jobID && l.Subject != next {
			t.Errorf("without required tags a worker got %s", l.Subject)
		}
	})
}

// TestAReservedWorkerRendersOnlyForWorkspacesThatRequireItsTags.
func TestAReservedWorkerRendersOnlyForWorkspacesThatRequireItsTags(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		workspace, elsewhere := w.Workspace(t), w.Workspace(t)
		require(t, w, elsewhere, "cpu")
		w.Job(t, elsewhere, 1)
		jobID := w.Job(t, workspace, 2)
		reserved := w.TaggedWorker(t, true, "rtx")
		w.WantNoFrame(reserved)
		wantReason(t, w, workspace, jobID, job.NoTaggedWorker)
		wantStranded(t, w, 2)
		require(t, w, workspace, "rtx")
		wantReason(t, w, workspace, jobID, "")
		w.ClaimOne(reserved)
	})
}

// TestAJobThatWaitsForTagsSaysSo, takes the last place in the queue and counts in the alert.
func TestAJobThatWaitsForTagsSaysSo(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		workspace, other := w.Workspace(t), w.Workspace(t)
		require(t, w, workspace, "rtx")
		jobID := w.Job(t, workspace, 1)
		w.TaggedWorker(t, false, "cpu")
		rival := w.Job(t, other, 1)
		wantReason(t, w, workspace, jobID, job.NoTaggedWorker)
		if o := view(t, w, workspace, jobID); o.QueuePosition == nil || *o.QueuePosition != 2 {
			t.Errorf("the place of a job that nobody can take is %v, want 2", o.QueuePosition)
		}
		if o := view(t, w, other, rival); o.QueuePosition == nil || *o.QueuePosition != 1 {
			t.Errorf("the place of the other job is %v, want 1", o.QueuePosition)
		}
		w.Read(t, func(ctx context.Context, tx *db.Tx) error {
			jobs, untagged, err := dispatch.CountStranded(ctx, tx)
			if jobs != 1 || untagged != 1 {
				t.Errorf("%d jobs are stranded, %d of them for tags; want 1 and 1", jobs, untagged)
			}
			demand, err2 := dispatch.FindDemand(ctx, tx)
			if err2 == nil && (len(demand) != 2 || len(demand[0].Tags)+len(demand[1].Tags) != 1) {
				t.Errorf("the demand is %v; want two workspaces, and the tag of one", demand)
			}
			offer, err3 := dispatch.Offered(ctx, tx, workspace)
			if err3 == nil && offer.Workers != 0 {
				t.Errorf("%d workers would render for the workspace, want 0", offer.Workers)
			}
			return errors.Join(err, err2, err3)
		})
	})
}

// TestTheTagsOfWorkspacesAreBounded, and a tag that no workspace requires any more makes room.
func TestTheTagsOfWorkspacesAreBounded(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		var last string
		for n := range 60 {
			last = w.Workspace(t)
			require(t, w, last, fmt.Sprintf("tag-%d", n))
		}
		worker := w.TaggedWorker(t, true, "tag-59", "new")
		workspace := w.Workspace(t)
		err := w.DB.Write(t.Context(), func(tx *db.Tx) error {
			return dispatch.RequireTags(t.Context(), tx, workspace, []string{"new"})
		})
		if !fault.Is(err, fault.InvalidRequest) {
			t.Errorf("the 61st tag: %v, want invalid_request", err)
		}
		require(t, w, last)
		require(t, w, workspace, "new")
		w.Job(t, last, 1)
		jobID := w.Job(t, workspace, 1)
		if l := w.ClaimOne(worker); l.Subject != jobID {
			t.Errorf("a worker got %s, want %s by its tag that has another's bit", l.Subject, jobID)
		}
		w.WantNoFrame(worker)
	})
}

// TestAWorkspaceHasNoMoreFramesAtOnceThanItMay, also where workers ask at the same moment, and
// takes nothing from others meanwhile.
func TestAWorkspaceHasNoMoreFramesAtOnceThanItMay(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		workspace, other := w.Workspace(t), w.Workspace(t)
		limit(t, w, workspace, 2)
		w.Job(t, workspace, 8)
		w.Job(t, workspace, 8)
		var workers []string
		for range 8 {
			workers = append(workers, w.Worker(t))
		}
		held := claimTogether(t, w, workers)
		if len(held) != 2 {
			t.Fatalf("workers that asked together have %d frames, want 2", len(held))
		}
		w.Job(t, other, 8)
		for _, worker := range workers {
			if work := w.Claim(t, worker, "", 1); len(work.Leases) == 1 && work.Job.WorkspaceID == workspace {
				t.Fatal("a workspace at its limit got one more frame")
			}
		}
		w.Deliver(t, held[0], time.Second)
		taken := 0
		for _, worker := range workers {
			if work := w.Claim(t, worker, "", 1); len(work.Leases) == 1 && work.Job.WorkspaceID == workspace {
				taken++
			}
		}
		if taken != 1 {
			t.Errorf("after one frame came in, workers have %d more, want 1", taken)
		}
		limit(t, w, workspace, 0)
		if work := w.Claim(t, workers[7], "", 1); len(work.Leases) != 1 || work.Job.WorkspaceID != workspace {
			t.Error("without a limit the workspace that was served least gets no frame")
		}
	})
}

// TestAWorkspaceAtItsLimitKeepsNoOtherFromAWorker: of frames that failed before and that only
// this worker can take, those of others are rendered.
func TestAWorkspaceAtItsLimitKeepsNoOtherFromAWorker(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		only := w.TaggedWorker(t, false, "a", "b")
		another := w.TaggedWorker(t, false, "a")
		full := func() {
			workspace := w.Workspace(t)
			require(t, w, workspace, "a")
			limit(t, w, workspace, 1)
			w.Job(t, workspace, 2)
			w.Fail(w.ClaimOne(only), fault.BlenderCrashed)
			w.Fail(w.ClaimOne(another), fault.BlenderCrashed)
			w.ClaimOne(another)
		}
		full()
		workspace := w.Workspace(t)
		require(t, w, workspace, "b")
		jobID := w.Job(t, workspace, 1)
		w.Fail(w.ClaimOne(only), fault.BlenderCrashed)
		full()
		w.Advance(time.Minute)
		w.Seen(only, another)
		if l := w.ClaimOne(only); l.Subject != jobID {
			t.Errorf("the worker got %s, want the frame that only it can take", l.Subject)
		}
	})
}

// claimTogether has workers ask at the same moment, and lists the frames that they got.
func claimTogether(t *testing.T, w *jobtest.World, workers []string) (held []lease.Lease) {
	t.Helper()
	var all sync.WaitGroup
	var mu sync.Mutex
	for _, worker := range workers {
		all.Go(func() {
			work, err := w.Frames.Claim(t.Context(), worker, dispatch.OpenJob{}, 4)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			held = append(held, work.Leases...)
		})
	}
	all.Wait()
	return held
}

// TestAJobThatWaitsForTheLimitSaysSo, and its place and its end are those of the limit.
func TestAJobThatWaitsForTheLimitSaysSo(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		workspace, other := w.Workspace(t), w.Workspace(t)
		limit(t, w, workspace, 1)
		first := w.Job(t, workspace, 2)
		one, _, _ := w.Worker(t), w.Worker(t), w.Worker(t)
		w.Deliver(t, w.ClaimOne(one), 10*time.Second)
		w.ClaimOne(one)
		second := w.Job(t, workspace, 4)
		wantReason(t, w, workspace, second, job.WorkspaceLimit)
		rival := w.Job(t, other, 1)
		if o := view(t, w, workspace, second); o.QueuePosition == nil || *o.QueuePosition != 2 {
			t.Errorf("the place of a job whose workspace may have no more is %v, want 2", o.QueuePosition)
		}
		if o := view(t, w, other, rival); o.QueuePosition == nil || *o.QueuePosition != 1 {
			t.Errorf("the place of the other's job is %v, want 1", o.QueuePosition)
		}
		wantReason(t, w, workspace, first, "")
		w.Read(t, func(ctx context.Context, tx *db.Tx) error {
			forecast, err := dispatch.ReadForecast(ctx, tx)
			if err != nil {
				return err
			}
			each := dispatch.FrameTime{Mean: 10 * time.Second, Low: 10 * time.Second, High: 10 * time.Second}
			seconds, _, ok := forecast.Finish(second, workspace, dispatch.Asks{}, 4, each)
			if !ok || seconds < 40 {
				t.Errorf("four frames of 10 s, one at a time, take %g s", seconds)
			}
			return nil
		})
	})
}

// view is a job as its workspace sees it.
func view(t *testing.T, w *jobtest.World, workspace, jobID string) job.Object {
	t.Helper()
	o, err := w.Jobs.Get(t.Context(), workspace, jobID)
	return done(t, o, err)
}

// TestMoviesAndSecondRenderingsGoToWorkersWithTheTagsToo.
func TestMoviesAndSecondRenderingsGoToWorkersWithTheTagsToo(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		workspace := w.Workspace(t)
		jobID := w.Job(t, workspace, 1)
		plain, tagged := w.Worker(t), w.TaggedWorker(t, true, "rtx")
		w.Deliver(t, w.ClaimOne(plain), time.Second)
		w.Write(t, func(ctx context.Context, tx *db.Tx) error {
			// A second rendering needs a worker that is like that of the frame in all respects.
			alike := tx.Exec(ctx, "UPDATE frame SET renderer = w.renderer, build_hash = w.build_hash, device = w.device, device_name = w.device_name, blender_version = w.blender_version FROM worker w WHERE w.worker_id = frame.worker_id")
			return errors.Join(alike, lease.AddItems(ctx, tx, "movie", jobID, []int64{0}), lease.AddItems(ctx, tx, "recheck", jobID, []int64{1}))
		})
		takes := func(worker string, want bool) {
			t.Helper()
			w.Read(t, func(ctx context.Context, tx *db.Tx) error {
				_, movie := tx.MovieNext(ctx, query.MovieNextParams{Now: tx.Now, WorkerID: worker})
				_, again := tx.RecheckNext(ctx, query.RecheckNextParams{Now: tx.Now, WorkerID: worker})
				for what, err := range map[string]error{"movie": movie, "second rendering": again} {
					if (err == nil) != want || (err != nil && !db.IsNotFound(err)) {
						t.Errorf("a %s for the worker: %v, want one: %t", what, err, want)
					}
				}
				return nil
			})
		}
		takes(plain, true)
		takes(tagged, false)
		require(t, w, workspace, "rtx")
		takes(plain, false)
		takes(tagged, true)
		w.Write(t, func(ctx context.Context, tx *db.Tx) error {
			return errors.Join(lease.Drop(ctx, tx, "movie", jobID), lease.Drop(ctx, tx, "recheck", jobID))
		})
	})
}
