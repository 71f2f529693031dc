package preview_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/render/buildoption"
	"svc.example/internal/work/framecheck"
	"svc.example/internal/work/operator"
	"svc.example/internal/work/preview"
)

func TestNoPreviewIsClaimedWhileAFrameWaitsForTheWorker(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		workspace, worker, second := w.Workspace(t), w.Worker(t), w.Worker(t)
		w.ordered(workspace, w.NewUpload(t, workspace, 1), 0)
		w.ordered(workspace, w.NewUpload(t, workspace, 1), 0)
		w.Job(t, w.Workspace(t), 2)
		w.wantNone("two frames wait", worker)
		w.Deliver(t, w.ClaimOne(second), time.Second)
		w.wantNone("one frame waits", worker)
		frame := w.ClaimOne(second)
		w.claim(worker)
		w.wantNone("it holds one", worker)
		if err := w.Frames.Release(t.Context(), []lease.Ref{frame.Ref()}); err != nil {
			t.Fatal(err)
		}
		w.ClaimOne(worker) // a preview that it holds keeps no frame from it
		suspended := w.Worker(t)
		w.Write(t, func(ctx context.Context, tx *db.Tx) error {
			for range 3 {
				if err := w.Workers.RecordFault(ctx, tx, suspended); err != nil {
					return err
				}
			}
			return nil
		})
		w.wantNone("it is suspended", suspended)
		w.claim(second)
	})
}

func TestAPreviewGoesOnlyToAWorkerWhoseBlenderIsBuiltForIt(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		workspace := w.Workspace(t)
		lacking := w.WorkerThatLacks(t, w.NodeKey(t), buildoption.OpenVDB, buildoption.USD)
		cloudy := w.UploadThatNeeds(t, workspace, 1, buildoption.OpenVDB)
		first := w.ordered(workspace, cloudy, 0)
		if reason := first.WaitingReason; reason == nil || *reason != preview.NoCapableWorker {
			t.Errorf("it waits because of %v, want %s", reason, preview.NoCapableWorker)
		}
		w.wantNone("its Blender lacks what the scene needs", lacking)
		plain, film := w.NewUpload(t, workspace, 1), w.UploadThatNeeds(t, workspace, 1, buildoption.Movies)
		for _, upload := range []string{plain, film} { // neither is kept by the one before them
			want := w.ordered(workspace, upload, 0)
			if got := w.claim(lacking); got.PreviewID != want.PreviewID {
				t.Errorf("the worker got %s, want %s", got.PreviewID, want.PreviewID)
			}
			lacking = w.WorkerThatLacks(t, w.NodeKey(t), buildoption.OpenVDB)
		}
		able := w.WorkerThatLacks(t, w.NodeKey(t), buildoption.USD)
		if reason := w.find(workspace, cloudy).WaitingReason; reason != nil {
			t.Errorf("it waits because of %s, and a worker is about to take it", *reason)
		}
		if got := w.claim(able); got.PreviewID != first.PreviewID {
			t.Errorf("the worker got %s, want %s", got.PreviewID, first.PreviewID)
		}
	})
}

func TestAPreviewGoesOnlyToAWorkerWithTheTagsOfItsWorkspace(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		workspace, elsewhere := w.Workspace(t), w.Workspace(t)
		w.Write(t, func(ctx context.Context, tx *db.Tx) error {
			act, err := operator.RequireTags(ctx, tx, workspace, []string{"rtx"})
			return errors.Join(err, act.Perform(ctx, tx, operator.Account("test")))
		})
		plain := w.Worker(t)
		first := w.ordered(workspace, w.NewUpload(t, workspace, 1), 0)
		if reason := first.WaitingReason; reason == nil || *reason != preview.NoCapableWorker {
			t.Errorf("it waits because of %v, want %s", reason, preview.NoCapableWorker)
		}
		w.wantNone("it lacks the tag", plain)
		reserved := w.TaggedWorker(t, true, "rtx")
		free := w.ordered(elsewhere, w.NewUpload(t, elsewhere, 1), 0)
		if got := w.claim(reserved); got.PreviewID != first.PreviewID {
			t.Errorf("the reserved worker got %s, want %s", got.PreviewID, first.PreviewID)
		}
		w.wantNone("it is reserved", w.TaggedWorker(t, true, "rtx"))
		if got := w.claim(plain); got.PreviewID != free.PreviewID {
			t.Errorf("the worker without tags got %s, want %s", got.PreviewID, free.PreviewID)
		}
	})
}

func TestTheFirstPreviewOfEachWorkspaceComesBeforeTheSecondOfAny(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		greedy, modest := w.Workspace(t), w.Workspace(t)
		upload := w.NewUpload(t, greedy, 9)
		var want []string
		for frame := range 3 {
			want = append(want, w.ordered(greedy, upload, frame+1).PreviewID)
		}
		late := w.ordered(modest, w.NewUpload(t, modest, 1), 1).PreviewID
		want = []string{want[0], late, want[1], want[2]}
		for i, id := range want {
			if got := w.claim(w.Worker(t)); got.PreviewID != id {
				t.Errorf("claim %d is %s, want %s", i+1, got.PreviewID, id)
			}
		}
	})
}

func TestAReportOfAnEarlierClaimIsLost(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		workspace := w.Workspace(t)
		upload := w.NewUpload(t, workspace, 1)
		w.ordered(workspace, upload, 0)
		late := func(when string, of preview.Work) {
			t.Helper()
			for what, err := range map[string]error{
				"first byte": w.Admit(t.Context(), of.Lease.Ref()),
				"picture":    w.Accept(t.Context(), delivery(t, of, painted(t, 8, 8, nil))),
				"failure":    w.Previews.Fail(t.Context(), of.Lease.Ref(), framecheck.Failure{Code: fault.BlenderCrashed}),
			} {
				if !fault.Is(err, fault.LeaseLost) {
					t.Errorf("%s: a late %s: %v", when, what, err)
				}
			}
			if err := w.Release(t.Context(), []lease.Ref{of.Lease.Ref()}); err != nil {
				t.Errorf("%s: a late release: %v", when, err)
			}
			lost, err := w.Heartbeat(t.Context(), of.Lease.Holder, []lease.Ref{of.Lease.Ref()}, []float64{0.5})
			if err != nil || len(lost) != 1 {
				t.Errorf("%s: a late heartbeat loses %v: %v", when, lost, err)
			}
		}
		released := w.claim(w.Worker(t))
		if err := w.Release(t.Context(), []lease.Ref{released.Lease.Ref()}); err != nil {
			t.Fatal(err)
		}
		late("released", released)
		silent := w.claim(w.Worker(t))
		lost, err := w.Heartbeat(t.Context(), silent.Lease.Holder, []lease.Ref{silent.Lease.Ref()}, []float64{0.5})
		if err != nil || len(lost) != 0 {
			t.Errorf("a heartbeat loses %v: %v", lost, err)
		}
		w.Advance(w.LeaseLife)
		w.expireAll("")
		late("silent", silent)
		second := w.claim(w.Worker(t))
		late("silent, and another has it", silent)
		if v := w.find(workspace, upload); v.Status != preview.Rendering {
			t.Errorf("after the late reports it is %s", v.Status)
		}
		for _, when := range []string{"held", "accepted, and the answer was lost"} {
			if err := w.Admit(t.Context(), second.Lease.Ref()); err != nil {
				t.Errorf("%s: the holder's bytes: %v", when, err)
			}
			if err := w.Accept(t.Context(), delivery(t, second, painted(t, 8, 8, nil))); err != nil {
				t.Fatal(err)
			}
		}
		late("ready", silent)
	})
}

// TestAWorkerThatHoldsAPreviewForTooLongLosesIt: despite its heartbeats.
func TestAWorkerThatHoldsAPreviewForTooLongLosesIt(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		workspace := w.Workspace(t)
		upload := w.NewUpload(t, workspace, 1)
		w.ordered(workspace, upload, 0)
		got := w.claim(w.Worker(t))
		for minute := 1; ; minute++ {
			w.Advance(time.Minute)
			lost, err := w.Heartbeat(t.Context(), got.Lease.Holder, []lease.Ref{got.Lease.Ref()}, []float64{0})
			if err != nil {
				t.Fatal(err)
			}
			if len(lost) == 1 {
				if minute < 10 || minute > 12 {
					t.Errorf("it was lost after %d minutes", minute)
				}
				break
			}
			if minute > 20 {
				t.Fatal("it is held for ever")
			}
		}
		if v := w.find(workspace, upload); v.Status != preview.Failed || v.Failure.Code != fault.FrameTimeExceeded {
			t.Errorf("it is %s: %+v", v.Status, v.Failure)
		}
	})
}

func TestAFailureOfTheWorkerIsTriedAgainAndOneOfTheSceneIsNot(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		for _, c := range []struct {
			failure framecheck.Failure
			tries   int
		}{
			{framecheck.Failure{Code: fault.BlenderCrashed}, 2}, {framecheck.Failure{Code: fault.BlenderCrashed, Final: true}, 1},
			{framecheck.Failure{Code: fault.FrameTimeExceeded}, 1}, {framecheck.Failure{Code: fault.GPUUnavailable, Message: "no GPU"}, 3},
		} {
			workspace := w.Workspace(t)
			upload := w.NewUpload(t, workspace, 1)
			w.ordered(workspace, upload, 0)
			for try := range c.tries {
				if v := w.find(workspace, upload); v.Status != preview.Queued {
					t.Errorf("%s: before try %d it is %s", c.failure.Code, try+1, v.Status)
				}
				if err := w.Previews.Fail(t.Context(), w.claim(w.Worker(t)).Lease.Ref(), c.failure); err != nil {
					t.Fatal(err)
				}
				w.Advance(2 * time.Second)
			}
			if v := w.find(workspace, upload); v.Status != preview.Failed || v.Failure.Code != c.failure.Code || v.Failure.Message == "" {
				t.Errorf("%s: after %d tries it is %s", c.failure.Code, c.tries, v.Status)
			}
		}
	})
}
