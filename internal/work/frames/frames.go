// Package frames is what a worker's reports do: it claims frames, keeps them alive,
// hands pictures in, fails, gives back, or falls silent.
//
// What always holds: a frame has one winner, whatever reports come late or twice; a
// report with an older attempt or of another holder is lease_lost; a picture counts
// only when the frame check lets it; a failed attempt is kept in the same transaction
// in which its frame goes back or its job ends.
//
// In a transaction the job's row is locked before its leases, those before the turn
// rows, and workers' rows come last (see job).
//
// The package owns the table frame. Who gets which frame is left to dispatch, what a
// picture is worth to framecheck, the job's state to job, bytes and HTTP to the
// workers' door. Start reading at Frames.Claim, then accept.go; doubt.go puts accepted
// frames back, fail.go says what becomes of a failed attempt.
package frames

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/job"
)

// Frames takes workers' reports.
type Frames struct {
	DB      *db.DB
	Jobs    JobFailer
	Workers *dispatch.Workers
	// LeaseLife is how long a frame stays with a worker that is not heard.
	LeaseLife time.Duration
	Log       *slog.Logger
}

// JobFailer ends a locked job that cannot be finished and gives its money back.
type JobFailer interface {
	Fail(ctx context.Context, tx *db.Tx, job job.Record, code fault.Code, message string) error
}

// Heartbeat keeps a worker's leases alive and returns the ids of those that are no
// longer its own. progress, 0 to 1, belongs to the lease at the same place.
func (f *Frames) Heartbeat(ctx context.Context, holder string, held []lease.Ref, progress []float64) (lost []string, err error) {
	err = f.DB.Write(ctx, func(tx *db.Tx) error {
		lost = []string{}
		for i, ref := range held {
			ref.Holder = holder
			err := lease.Beat(ctx, tx, ref, progress[i], f.LeaseLife)
			if errors.Is(err, lease.ErrLost) {
				lost = append(lost, ref.ID)
				continue
			}
			if err != nil {
				return err
			}
			if jobID := jobOf(ref.ID); jobID != "" && progress[i] > 0 {
				tx.Announce(job.ProgressTopic(jobID))
			}
		}
		return nil
	})
	return lost, err
}

// Upload is the upload that a job renders, for a worker that holds one of the job's
// frames. Errors: lease_lost.
func (f *Frames) Upload(ctx context.Context, workerID, jobID string) (uploadID string, err error) {
	err = f.DB.Read(ctx, func(tx *db.Tx) error {
		held, err := tx.WorkerHolds(ctx, query.WorkerHoldsParams{JobID: jobID, WorkerID: workerID})
		if err != nil {
			return fmt.Errorf("read leases: %w", err)
		}
		if held == 0 {
			return fault.New(fault.LeaseLost, "This worker holds no frame of %s.", jobID)
		}
		record, err := job.Read(ctx, tx, jobID)
		uploadID = record.UploadID
		return err
	})
	return uploadID, err
}

// LeaseID is the id of the lease of a job's frame.
func LeaseID(jobID string, frame int) string {
	return lease.ID(dispatch.FrameQueue, jobID, int64(frame))
}

// jobOf is the job of a frame lease's id; "" for an id of another form.
func jobOf(leaseID string) string {
	parts := strings.Split(leaseID, ":")
	if len(parts) != 3 {
		return ""
	}
	return parts[1]
}

func lost(leaseID string) error {
	return fault.New(fault.LeaseLost, "The lease %s is no longer this worker's.", leaseID)
}
