package frames_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/operator"
)

// TestTheLogOfAJobTellsWhatHappened, each thing once and in order: its start with the request,
// an attempt that failed, one that was returned, one that succeeded, one in progress, its
// money, and what an operator did.
func TestTheLogOfAJobTellsWhatHappened(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		owner := w.Workspace(t)
		jobID := w.Job(t, owner, 2)
		first, second := w.WorkerOf(t, w.NodeKey(t)), w.WorkerOf(t, w.NodeKey(t))
		w.Advance(time.Second)
		w.Fail(w.ClaimOne(first), fault.BlenderCrashed)
		w.Advance(time.Second)
		if err := w.Frames.Release(t.Context(), []lease.Ref{w.ClaimOne(second).Ref()}); err != nil {
			t.Fatal(err)
		}
		w.Advance(time.Second)
		w.Deliver(t, w.ClaimOne(second), 1500*time.Millisecond)
		w.Advance(time.Second)
		w.ClaimOne(first)
		w.Advance(time.Second)
		reported := fault.WithRequestID(t.Context(), "req_the-act")
		err := w.DB.Write(reported, func(tx *db.Tx) error {
			act, err := operator.FailJob(reported, tx, w.Jobs, jobID, "the scene breaks our terms")
			if err != nil {
				return err
			}
			return act.Perform(reported, tx, operator.Account("root"))
		})
		if err != nil {
			t.Fatal(err)
		}
		log := w.log(jobID)
		want := []struct {
			kind  operator.EntryKind
			texts []string
		}{
			{operator.LogCreated, []string{"2 frames", "$0.02"}},
			{operator.LogMoney, []string{"$0.02 reserved"}},
			{operator.LogClaimed, nil},
			{operator.LogFailed, []string{"frame 1 failed, attempt 1", first, "blender_crashed"}},
			{operator.LogAccepted, []string{"frame 1 accepted after 1.5 s, attempt 3", second, "(1 attempt before it returned)"}},
			{operator.LogMoney, []string{"$0.02 released"}},
			{operator.LogAct, []string{"operator root: end " + jobID, "the scene breaks our terms"}},
			{operator.LogEnded, []string{"failed with ended_by_operator: the scene breaks our terms"}},
		}
		if len(log) != len(want) {
			t.Fatalf("%d entries, want %d: %+v", len(log), len(want), log)
		}
		for i, e := range log {
			if e.Kind != want[i].kind || (i > 0 && e.At.Before(log[i-1].At)) {
				t.Errorf("entry %d is %s at %s, want %s after the one before", i, e.Kind, e.At, want[i].kind)
			}
			for _, text := range want[i].texts {
				if !strings.Contains(e.Text, text) {
					t.Errorf("entry %d says %q, without %q", i, e.Text, text)
				}
			}
		}
		if act, end := log[6], log[7]; act.RequestID != "req_the-act" || end.RequestID != "req_the-act" {
			t.Errorf("the act is of request %q, the end of %q", act.RequestID, end.RequestID)
		}
	})
}

// TestTheLogOfAJobShowsWhoRendersIt while a worker does.
func TestTheLogOfAJobShowsWhoRendersIt(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		jobID := w.Job(t, w.Workspace(t), 1)
		worker := w.Worker(t)
		w.ClaimOne(worker)
		log := w.log(jobID)
		if last := log[len(log)-1]; last.Kind != operator.LogHeld || !strings.Contains(last.Text, worker) {
			t.Errorf("the log ends with %+v", last)
		}
	})
}

func TestThereIsNoLogOfAJobThatIsNotThere(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		err := w.DB.Read(t.Context(), func(tx *db.Tx) error {
			_, err := operator.JobLog(t.Context(), tx, "JOB-0")
			return err
		})
		if !fault.Is(err, fault.RenderNotFound) {
			t.Error(err)
		}
	})
}

// log reads the log of a job.
func (w *world) log(jobID string) (log []operator.LogEntry) {
	w.T.Helper()
	w.Read(w.T, func(ctx context.Context, tx *db.Tx) (err error) {
		log, err = operator.JobLog(ctx, tx, jobID)
		return err
	})
	return log
}
