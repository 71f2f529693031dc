package job_test

import (
	"context"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/test/jobtest"
	"svc.example/internal/work/job"
)

// mostStatements is what a page of a list may take, with what begins and ends its
// transaction, and with three that read the queue and similar jobs: a service does that once a second.
const mostStatements = 9

func TestListTakesAConstantNumberOfStatements(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		workspaceID, worker := w.Workspace(t), w.Worker(t)
		for range 12 {
			w.Job(t, workspaceID, 3)
		}
		for range 4 { // of some jobs a frame is in and another one held
			w.Deliver(t, w.ClaimOne(worker), time.Second)
			w.ClaimOne(worker)
		}
		for _, limit := range []int{1, 5, 100} {
			before := w.Statements()
			page, _, err := w.Jobs.List(t.Context(), job.ListRequest{WorkspaceID: workspaceID, Limit: limit})
			if err != nil || len(page) != min(limit, 12) {
				t.Fatalf("a page of %d has %d jobs: %v", limit, len(page), err)
			}
			if took := w.Statements() - before; took > mostStatements {
				t.Errorf("a page of %d jobs took %d statements, more than %d", len(page), took, mostStatements)
			}
			for _, listed := range page {
				wantAsRead(t, w, workspaceID, listed)
			}
		}
	})
}

// wantAsRead checks that a list shows a job as reading it alone does, but for what
// moves with the clock.
func wantAsRead(t *testing.T, w *jobtest.World, workspaceID string, listed job.Object) {
	t.Helper()
	alone, err := w.Jobs.Get(t.Context(), workspaceID, listed.JobID)
	if err != nil {
		t.Fatal(err)
	}
	if listed.Status != alone.Status || listed.FramesCompleted != alone.FramesCompleted || listed.ProgressPercent != alone.ProgressPercent ||
		(listed.ETASeconds == nil) != (alone.ETASeconds == nil) || (listed.ETABasis != nil && *listed.ETABasis != *alone.ETABasis) || (listed.WaitingReason == nil) != (alone.WaitingReason == nil) || (listed.WaitingReason != nil && *listed.WaitingReason != *alone.WaitingReason) ||
		(listed.QueuePosition == nil) != (alone.QueuePosition == nil) || (listed.QueuePosition != nil && *listed.QueuePosition != *alone.QueuePosition) {
		t.Errorf("listed as %+v, read as %+v", listed, alone)
	}
}

// TestTheNamesOfNoJobsAreNone, in a workspace that has jobs: a wallet may have no entry of one.
func TestTheNamesOfNoJobsAreNone(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		workspaceID := w.Workspace(t)
		one := w.Job(t, workspaceID, 1)
		w.Read(t, func(ctx context.Context, tx *db.Tx) error {
			for _, ids := range [][]string{nil, {}, {"JOB-none"}, {one}} {
				names, err := job.Filenames(ctx, tx, workspaceID, ids)
				if err != nil {
					return err
				}
				if known := len(ids) == 1 && ids[0] == one; (len(names) == 1) != known {
					t.Errorf("%q has the names %q", ids, names)
				}
			}
			return nil
		})
	})
}
