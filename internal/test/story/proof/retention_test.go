package proof_test

import (
	"context"
	"testing"
	"time"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/test/story"
	"svc.example/internal/work/dispatch"
)

// knownWorkers are the workers that the store knows.
func knownWorkers(svc *story.Service) (ids []string) {
	svc.T.Helper()
	svc.Read(func(ctx context.Context, tx *db.Tx) error {
		workers, err := dispatch.ListWorkers(ctx, tx, 365*24*time.Hour)
		for _, w := range workers {
			ids = append(ids, w.WorkerID)
		}
		return err
	})
	return ids
}

// blenderLog is Blender's output of a job's frame 1.
func blenderLog(svc *story.Service, jobID string) (text string) {
	svc.T.Helper()
	svc.Read(func(ctx context.Context, tx *db.Tx) error {
		frame, err := tx.FrameGet(ctx, query.FrameGetParams{JobID: jobID, Frame: 1})
		text = frame.Log
		return err
	})
	return text
}

// What is forgotten is what nothing refers to: receipts still verify, and the audit at
// the story's end is clean.
func TestAServiceForgetsOldWorkersAndLogsAndNothingElse(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		pass := story.Moved(&config)
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		first, second := svc.ManualWorker(), svc.ManualWorker()
		old := c.StartFrames(2)
		claimed, err := first.LeaseOne(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := first.FailFinally(t, claimed); err != nil {
			t.Fatal(err)
		}
		pass(time.Minute) // the pause before another attempt
		stop := svc.Worker(&story.Painter{})
		c.Await(old.JobID, client.StatusCompleted)
		stop()
		if svc.FailedTries(old.JobID) != 1 || blenderLog(svc, old.JobID) == "" || len(knownWorkers(svc)) != 3 {
			t.Fatal("nothing is there to be forgotten")
		}

		pass(31 * 24 * time.Hour)
		svc.Worker(&story.Painter{})
		recent := c.StartFrames(1)
		c.Await(recent.JobID, client.StatusCompleted)
		svc.App.Forget(t.Context())
		if n, log := svc.FailedTries(old.JobID), blenderLog(svc, old.JobID); n != 0 || log != "" {
			t.Errorf("the old job has %d failed attempts and the log %q", n, log)
		}
		if blenderLog(svc, recent.JobID) == "" {
			t.Error("the log of the recent job is gone")
		}
		if known := knownWorkers(svc); len(known) != 1 || known[0] == first.ID || known[0] == second.ID {
			t.Errorf("the workers %v are known, want the one that works", known)
		}
		if got, err := c.Job(story.Patient(t), old.JobID); err != nil || got.Status != client.StatusCompleted {
			t.Errorf("the old job is %+v, %v", got, err)
		}
		if _, err := c.Receipt(story.Patient(t), old.JobID); err != nil {
			t.Errorf("the receipt of the old job: %v", err)
		}
	})
}
