package frames

import (
	"context"
	"errors"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/job"
)

// Work is what a worker is handed: leases on frames of one job.
type Work struct {
	Job     job.Record
	Leases  []lease.Lease
	Waiting int // frames of the job that nobody holds
}

// claimRuns is how often a claim is tried whose frames others took meanwhile.
const claimRuns = 3

// Claim hands holder up to limit frames of one job: the one whose turn it is, or
// prefer, whose file holder has open, where that has not had much more than its
// share. A frame that holder has failed goes to others as long as any are there.
// Of a job whose file holder has not open it gets one frame. No leases means that
// nothing waits for holder, or that it is set aside.
func (f *Frames) Claim(ctx context.Context, holder, prefer string, limit int) (w Work, err error) {
	for range claimRuns {
		// Many idle workers ask often: they look without taking the write lock.
		var found dispatch.Choice
		err = f.DB.Read(ctx, func(tx *db.Tx) (err error) {
			found, err = dispatch.Next(ctx, tx, holder, prefer)
			return err
		})
		if err != nil || found.JobID == "" {
			return Work{}, err
		}
		err = f.DB.Write(ctx, func(tx *db.Tx) (err error) {
			w = Work{}
			if found, err = dispatch.Next(ctx, tx, holder, prefer); err != nil || found.JobID == "" {
				return err
			}
			w, err = f.claim(ctx, tx, holder, found, limit)
			return err
		})
		if err != nil || len(w.Leases) > 0 {
			return w, err
		}
	}
	return Work{}, nil
}

func (f *Frames) claim(ctx context.Context, tx *db.Tx, holder string, found dispatch.Choice, limit int) (Work, error) {
	record, first, err := job.BeginRendering(ctx, tx, found.JobID)
	if errors.Is(err, job.ErrNotRendering) {
		return Work{}, nil // it ended a moment ago
	}
	if err != nil {
		return Work{}, err
	}
	if !found.Open {
		limit = 1 // how long its frames take the worker does not know
	}
	leases, err := dispatch.Take(ctx, tx, holder, found, limit, f.LeaseLife)
	if err != nil {
		return Work{}, err
	}
	if len(leases) == 0 {
		if first {
			return Work{}, fmt.Errorf("job %s is queued and has no frame to claim", record.JobID)
		}
		return Work{}, nil
	}
	waiting, err := dispatch.RecordClaim(ctx, tx, job.ForDispatch(record), int64(len(leases)))
	return Work{Job: record, Leases: leases, Waiting: int(waiting)}, err
}
