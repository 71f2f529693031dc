package story_test

import (
	"context"
	"testing"
	"time"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/work/dispatch"
)

// known are the workers that the store knows.
func (svc *service) known() (ids []string) {
	svc.t.Helper()
	svc.read(func(ctx context.Context, tx *db.Tx) error {
		workers, err := dispatch.ListWorkers(ctx, tx, 365*24*time.Hour)
		for _, w := range workers {
			ids = append(ids, w.WorkerID)
		}
		return err
	})
	return ids
}

// log is Blender's output of a job's frame 1.
func (svc *service) log(jobID string) (text string) {
	svc.t.Helper()
	svc.read(func(ctx context.Context, tx *db.Tx) error {
		frame, err := tx.FrameGet(ctx, query.FrameGetParams{JobID: jobID, Frame: 1})
		text = frame.Log
		return err
	})
	return text
}

// What is forgotten is what nothing refers to: receipts still verify, and the audit at
// the story's end is clean.
func TestAServiceForgetsOldWorkersAndLogsAndNothingElse(t *testing.T) {
	each(t, func(t *testing.T, config app.Config) {
		pass := moved(&config)
		svc := start(t, config)
		c := svc.caller(credit)
		first, second := svc.manualWorker(), svc.manualWorker()
		old := c.start(2)
		claimed, err := first.lease(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := first.failFinally(t, claimed); err != nil {
			t.Fatal(err)
		}
		pass(time.Minute) // the pause before another attempt
		stop := svc.worker(&painter{})
		c.await(old.JobID, client.StatusCompleted)
		stop()
		if svc.failedTries(old.JobID) != 1 || svc.log(old.JobID) == "" || len(svc.known()) != 3 {
			t.Fatal("nothing is there to be forgotten")
		}

		pass(31 * 24 * time.Hour)
		svc.worker(&painter{})
		recent := c.start(1)
		c.await(recent.JobID, client.StatusCompleted)
		svc.app.Forget(t.Context())
		if n, log := svc.failedTries(old.JobID), svc.log(old.JobID); n != 0 || log != "" {
			t.Errorf("the old job has %d failed attempts and the log %q", n, log)
		}
		if svc.log(recent.JobID) == "" {
			t.Error("the log of the recent job is gone")
		}
		if known := svc.known(); len(known) != 1 || known[0] == first.id || known[0] == second.id {
			t.Errorf("the workers %v are known, want the one that works", known)
		}
		if got, err := c.Job(patient(t), old.JobID); err != nil || got.Status != client.StatusCompleted {
			t.Errorf("the old job is %+v, %v", got, err)
		}
		if _, err := c.Receipt(patient(t), old.JobID); err != nil {
			t.Errorf("the receipt of the old job: %v", err)
		}
	})
}
