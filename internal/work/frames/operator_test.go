package frames_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/test/jobtest"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/job"
	"svc.example/internal/work/wallet"
)

// endByOperator ends a job and checks what its owner reads and has.
func (w *world) endByOperator(jobID, workspaceID string) {
	w.T.Helper()
	w.Write(w.T, func(ctx context.Context, tx *db.Tx) error {
		_, err := w.Jobs.FailByOperator(ctx, tx, jobID, " the scene holds what our terms forbid ")
		return err
	})
	w.WantStatus(jobID, job.Failed, fault.EndedByOperator)
	w.Read(w.T, func(ctx context.Context, tx *db.Tx) error {
		o, err := w.Jobs.Object(ctx, tx, jobID)
		if err != nil {
			return err
		}
		if o.Failure == nil || o.Failure.Message != "the scene holds what our terms forbid" || o.ChargedCents != 0 || o.ReservedCents != 0 {
			w.T.Errorf("its owner reads %+v, charged %d, reserved %d", o.Failure, o.ChargedCents, o.ReservedCents)
		}
		b, err := wallet.Get(ctx, tx, workspaceID)
		if b.AvailableCents != 1_000_000 || b.ReservedCents != 0 {
			w.T.Errorf("its owner has %+v", b)
		}
		return err
	})
	w.audit()
}

// audit reports each breach of the jobs and of the money.
func (w *world) audit() {
	w.T.Helper()
	breach := func(rule, subject, format string, args ...any) {
		w.T.Errorf("%s: %s: %s", rule, subject, fmt.Sprintf(format, args...))
	}
	w.Read(w.T, func(ctx context.Context, tx *db.Tx) error {
		_, err := job.Audit(ctx, tx, contract.Published(), breach)
		if err == nil {
			_, err = wallet.Audit(ctx, tx, breach)
		}
		return err
	})
	w.CheckTurns()
}

// TestAnOperatorEndsAJobThatWaits ends one that waits for its submit, and one for a worker.
func TestAnOperatorEndsAJobThatWaits(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		owner := w.Workspace(t)
		w.endByOperator(w.HeldJob(t, owner, 3), owner)
		w.endByOperator(w.Job(t, owner, 3), owner)
		w.WantNoFrame(w.Worker(t))
	})
}

func TestAnOperatorEndsAJobUnderItsWorkersHands(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		owner := w.Workspace(t)
		jobID := w.Job(t, owner, 3)
		first, second := w.Worker(t), w.Worker(t)
		w.Deliver(t, w.ClaimOne(first), time.Second)
		held := w.ClaimOne(second)
		w.endByOperator(jobID, owner)
		_, err := w.Frames.Accept(t.Context(), jobtest.Picture(held, time.Second))
		if refused, ok := errors.AsType[*fault.Error](err); !ok || refused.Code != fault.LeaseLost {
			t.Errorf("a worker delivers a frame of a job that has ended: %v", err)
		}
		w.WantNoFrame(first)
		w.audit()
	})
}

func TestAnOperatorEndsAJobWhileItIsPacked(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		owner := w.Workspace(t)
		jobID := w.Job(t, owner, 1)
		w.Deliver(t, w.ClaimOne(w.Worker(t)), time.Second)
		w.WantStatus(jobID, job.Packaging, "")
		var packing []lease.Lease
		w.Write(t, func(ctx context.Context, tx *db.Tx) (err error) {
			packing, err = lease.Claim(ctx, tx, job.PackageQueue, "SRV-test", 1, time.Hour)
			return err
		})
		if len(packing) != 1 {
			t.Fatalf("%d leases to pack", len(packing))
		}
		w.endByOperator(jobID, owner)
		if err := w.Jobs.Complete(t.Context(), packing[0], job.Artifact{}); err == nil {
			t.Error("a job that an operator has ended is completed")
		}
		w.WantStatus(jobID, job.Failed, fault.EndedByOperator)
		w.audit()
	})
}

func TestAnOperatorEndsNoJobTwiceAndNoneWithoutAReason(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		jobID := w.Job(t, w.Workspace(t), 1)
		end := func(reason string) error {
			return w.DB.Write(t.Context(), func(tx *db.Tx) error {
				_, err := w.Jobs.FailByOperator(t.Context(), tx, jobID, reason)
				return err
			})
		}
		if err := end(" \n"); err == nil {
			t.Error("a job was ended without a reason")
		}
		w.WantStatus(jobID, job.Queued, "")
		if err := end("it is broken"); err != nil {
			t.Error(err)
		}
		if err := end("it is broken"); !fault.Is(err, fault.JobEnded) {
			t.Errorf("a job that has ended was ended again: %v", err)
		}
	})
}

func TestADrainedWorkerFinishesItsFramesAndGetsNoMore(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		workspace, key := w.Workspace(t), w.NodeKey(t)
		w.Job(t, workspace, 3)
		worker := w.WorkerOf(t, key)
		held := w.ClaimOne(worker)
		drain := func(undo bool) {
			w.Write(t, func(ctx context.Context, tx *db.Tx) error { return dispatch.Drain(ctx, tx, worker, undo) })
		}
		drain(false)
		w.wantState(worker, dispatch.WorkerDraining)
		w.WantNoFrame(worker)
		w.Deliver(t, held, time.Second)
		w.wantState(worker, dispatch.WorkerDrained)
		drain(true)
		w.wantState(worker, dispatch.WorkerIdle)
		w.Deliver(t, w.ClaimOne(worker), time.Second)
		drain(false)
		again, err := w.Workers.Register(t.Context(), dispatch.Worker{KeyID: key, Name: "test", Renderer: "blender", BlenderVersion: "4.1.1", Device: "GPU"})
		if err != nil {
			t.Fatal(err)
		}
		w.ClaimOne(again) // it was started again
	})
}

// wantState checks a worker's state as the operator sees it.
func (w *world) wantState(workerID string, want dispatch.WorkerState) {
	w.T.Helper()
	w.Read(w.T, func(ctx context.Context, tx *db.Tx) error {
		v, err := dispatch.FindWorker(ctx, tx, workerID)
		if v.State != want {
			w.T.Errorf("the worker is %s, want %s", v.State, want)
		}
		return err
	})
}

func TestOnlyAWorkerThatHasLeftIsForgotten(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.Job(t, w.Workspace(t), 1)
		worker := w.Worker(t)
		forget := func() error {
			return w.DB.Write(t.Context(), func(tx *db.Tx) error { return dispatch.Forget(t.Context(), tx, worker) })
		}
		if err := forget(); !fault.Is(err, fault.WorkerInUse) {
			t.Errorf("an online worker: %v", err)
		}
		held := w.ClaimOne(worker)
		w.Advance(dispatch.WorkerOnline + time.Second)
		if err := forget(); !fault.Is(err, fault.WorkerInUse) {
			t.Errorf("a worker with a frame: %v", err)
		}
		w.Deliver(t, held, time.Second)
		if err := forget(); err != nil {
			t.Error(err)
		}
		if err := forget(); !fault.Is(err, fault.WorkerNotFound) {
			t.Errorf("a forgotten worker: %v", err)
		}
	})
}
