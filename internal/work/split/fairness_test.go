package split_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/job"
	"svc.example/internal/work/split"
)

// object is a job as its workspace sees it.
func (w world) object(jobID string) (o job.Object) {
	w.t.Helper()
	var record job.Record
	w.Read(w.t, func(ctx context.Context, tx *db.Tx) (err error) {
		record, err = job.Read(ctx, tx, jobID)
		return err
	})
	o, err := w.Jobs.Get(w.t.Context(), record.WorkspaceID, jobID)
	if err != nil {
		w.t.Fatal(err)
	}
	return o
}

// wantETA checks when the frame that is cut is expected, to a second.
func (w world) wantETA(when string, seconds float64) {
	w.t.Helper()
	o := w.object(w.job)
	if o.ETASeconds == nil || math.Abs(*o.ETASeconds-seconds) > 1 || o.ETARange.LowSeconds > *o.ETASeconds || o.ETARange.HighSeconds < *o.ETASeconds {
		w.t.Errorf("%s: it is expected in %v s (%v), want %v", when, o.ETASeconds, o.ETARange, seconds)
	}
}

// wantPlaces checks the places of jobs in the queue; 0 is none.
func (w world) wantPlaces(when string, places map[string]int) {
	w.t.Helper()
	for jobID, want := range places {
		got := 0
		if at := w.object(jobID).QueuePosition; at != nil {
			got = *at
		}
		if got != want {
			w.t.Errorf("%s: job %s has place %d in the queue, want %d", when, jobID, got, want)
		}
	}
}

// holds reports whether a worker has a frame of a job.
func (w world) holds(worker, jobID string) (held bool) {
	w.Read(w.t, func(ctx context.Context, tx *db.Tx) error {
		rows, err := tx.FramesHeld(ctx, query.FramesHeldParams{WorkerID: worker})
		for _, r := range rows {
			held = held || r.Subject == jobID
		}
		return err
	})
	return held
}

// A frame that is cut counts as one frame of its workspace. Each worker whose strip is in renders
// frames of both workspaces that have some, in turn and as the queue said. The cut frame is
// expected when its workers will have rendered what is left of their strips.
func TestStripsStarveNobody(t *testing.T) {
	each(t, 1, func(t *testing.T, w world, workers []string) {
		all := []split.Work{w.cut(workers[0], 3), w.next(workers[1]), w.next(workers[2])}
		workspace := w.object(w.job).WorkspaceID
		mine := w.JobOver(t, workspace, 2, fmt.Sprintf("%064d", 9), fmt.Sprintf(`{"frame_width": %d, "frame_height": %d, "output_format": "PNG", "strip_overlap": 1}`, w.like().Width, height))
		others := w.newJob(3, 1)
		w.wantPlaces("while all render strips", map[string]int{w.job: 0, mine: 1, others: 2})
		if why := w.object(others).WaitingReason; why == nil || *why != job.WorkersBusy {
			t.Errorf("the other one's job waits for %v", why)
		}
		w.wantETA("ten minutes by three workers", 200)
		var held []lease.Ref
		for _, s := range all {
			held = append(held, s.Lease.Ref())
		}
		if lost, err := w.Heartbeat(t.Context(), held, []float64{0.5, 0.5, 0.5}); err != nil || len(lost) > 0 {
			t.Fatalf("%v are lost: %v", lost, err)
		}
		w.wantETA("half of each strip is rendered", 100)
		next := func(worker, want string) {
			t.Helper()
			w.wantNothing("what there is of strips is being rendered", worker)
			if got, cut := w.claimAndCut(worker); cut || w.object(want).Status != job.Rendering || !w.holds(worker, want) {
				t.Fatalf("next is %+v, want a frame of %s", got, want)
			}
		}
		w.deliver(all[0])
		w.wantETA("one strip is in", 100)
		next(workers[0], mine)
		w.wantPlaces("after one", map[string]int{mine: 0, others: 1})
		w.deliver(all[1])
		w.wantETA("two strips are in", 100)
		next(workers[1], others)
		w.wantPlaces("after two", map[string]int{mine: 0, others: 0})
		w.deliver(all[2])
		w.wantETA("all strips are in", 0)
		w.wantFinished(workers[2], 3)
		for _, want := range []string{mine, others, others} {
			next(w.WorkerOfStrips(t, contract.RendererID, "CPU"), want)
		}
		w.CheckTurns()
	})
}
