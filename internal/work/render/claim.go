package render

import (
	"context"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/lease"
)

// Work is what a worker is handed: leases on frames of one job.
type Work struct {
	Job     query.Job
	Leases  []lease.Lease
	Waiting int // frames of the job that nobody holds
}

// claimTries is how often a claim is tried whose frames others took meanwhile.
const claimTries = 3

// Claim hands holder up to limit frames of one job: the one whose turn it is, or
// prefer, whose file holder has open, where that has not had much more than its
// share. A frame that holder has failed goes to others as long as any are there.
// Of a job whose file holder has not open it gets one frame. No leases means that
// nothing waits for holder, or that it is set aside.
func (j *Jobs) Claim(ctx context.Context, holder, prefer string, limit int) (w Work, err error) {
	for range claimTries {
		// Many idle workers ask often: they look without taking the write lock.
		var found choice
		err = j.DB.Read(ctx, func(tx *db.Tx) (err error) {
			found, err = choose(ctx, tx, holder, prefer)
			return err
		})
		if err != nil || found.jobID == "" {
			return Work{}, err
		}
		err = j.DB.Write(ctx, func(tx *db.Tx) (err error) {
			w = Work{}
			if found, err = choose(ctx, tx, holder, prefer); err != nil || found.jobID == "" {
				return err
			}
			return j.claim(ctx, tx, holder, found, limit, &w)
		})
		if err != nil || len(w.Leases) > 0 {
			return w, err
		}
	}
	return Work{}, nil
}

// choice is what a worker is to take.
type choice struct {
	jobID   string // "" for nothing
	leaseID string // one frame, which it has failed before; else any of the job
	open    bool   // it has the job's file open
}

func choose(ctx context.Context, tx *db.Tx, holder, prefer string) (choice, error) {
	waits, err := tx.TurnAnyWaiting(ctx)
	if err != nil {
		return choice{}, fmt.Errorf("look for work: %w", err)
	}
	if waits == 0 {
		return choice{}, nil
	}
	worker, err := tx.WorkerGet(ctx, holder)
	if err != nil && !db.IsNotFound(err) {
		return choice{}, fmt.Errorf("read worker: %w", err)
	}
	if worker.AsideUntil > tx.Now {
		return choice{}, nil
	}
	jobID, err := next(ctx, tx, holder, prefer)
	if err != nil || jobID != "" {
		return choice{jobID: jobID, open: jobID == prefer}, err
	}
	return left(ctx, tx, holder)
}

// left finds what holder has failed before and nobody else is there to do.
func left(ctx context.Context, tx *db.Tx, holder string) (choice, error) {
	since := tx.Now - WorkerOnline.Microseconds()
	frame, err := tx.FrameLeft(ctx, query.FrameLeftParams{Holder: holder, Now: tx.Now, Since: since})
	if err == nil {
		return choice{jobID: frame.Subject, leaseID: frame.LeaseID}, nil
	}
	if !db.IsNotFound(err) {
		return choice{}, fmt.Errorf("look for frames that are left: %w", err)
	}
	jobID, err := tx.JobLeft(ctx, query.JobLeftParams{Holder: holder, Now: tx.Now, Since: since})
	if err != nil && !db.IsNotFound(err) {
		return choice{}, fmt.Errorf("look for jobs that are left: %w", err)
	}
	return choice{jobID: jobID}, nil
}

func (j *Jobs) claim(ctx context.Context, tx *db.Tx, holder string, found choice, limit int, w *Work) error {
	job, err := tx.JobGet(ctx, found.jobID)
	if err != nil {
		return fmt.Errorf("read job: %w", err)
	}
	if Status(job.Status) == Queued {
		// The first claim. Locks the job, so that a cancel comes before or after.
		if job, err = lock(ctx, tx, found.jobID); err != nil {
			return err
		}
	}
	switch Status(job.Status) {
	case Queued:
		if err := change(ctx, tx, job.JobID, Queued, Rendering); err != nil {
			return err
		}
		if err := tx.JobClaimed(ctx, query.JobClaimedParams{Now: tx.Now, JobID: job.JobID}); err != nil {
			return fmt.Errorf("claim job: %w", err)
		}
	case Rendering:
	default:
		return nil // it ended a moment ago
	}
	if !found.open {
		limit = 1 // how long its frames take the worker does not know
	}
	leases, err := j.claimFrames(ctx, tx, holder, found, limit)
	if err != nil {
		return err
	}
	if len(leases) == 0 {
		if Status(job.Status) == Queued {
			return fmt.Errorf("job %s is queued and has no frame to claim", job.JobID)
		}
		return nil
	}
	waiting, err := took(ctx, tx, job, int64(len(leases)))
	*w = Work{Job: job, Leases: leases, Waiting: int(waiting)}
	return err
}

// claimFrames claims what was found for holder: the one frame, or those of the job
// that are holder's next.
func (j *Jobs) claimFrames(ctx context.Context, tx *db.Tx, holder string, found choice, limit int) ([]lease.Lease, error) {
	if found.leaseID != "" {
		return lease.ClaimIDs(ctx, tx, []string{found.leaseID}, holder, j.LeaseLife)
	}
	ids, err := tx.FramesFor(ctx, query.FramesForParams{JobID: found.jobID, Holder: holder, Now: tx.Now, Max: int64(limit)})
	if err != nil {
		return nil, fmt.Errorf("choose frames of %s: %w", found.jobID, err)
	}
	return lease.ClaimIDs(ctx, tx, ids, holder, j.LeaseLife)
}
