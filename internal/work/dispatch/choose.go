package dispatch

import (
	"context"
	"fmt"
	"math"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/lease"
)

// stay is how much more than the next a job may have had before the worker that has
// its file open leaves it. It bounds what changing files costs: one opening in each
// such time of a worker. And it bounds how much longer another waits for that.
const stay = 15 * time.Second

// Choice is what a worker is to take.
type Choice struct {
	JobID string // "" for nothing
	// LeaseID is one frame, which the worker has failed before; "" for any frame of
	// the job that it has not failed.
	LeaseID string
	Open    bool // the worker has the job's file open
}

// Next chooses what holder renders next: a job whose turn it is, or prefer, whose
// file holder has open, where that has not had much more than its share; else a frame
// that holder has failed before and nobody else is there to do. It writes nothing.
func Next(ctx context.Context, tx *db.Tx, holder, prefer string) (Choice, error) {
	waits, err := tx.TurnAnyWaiting(ctx)
	if err != nil {
		return Choice{}, fmt.Errorf("look for work: %w", err)
	}
	if waits == 0 {
		return Choice{}, nil
	}
	worker, err := tx.WorkerGet(ctx, holder)
	if err != nil && !db.IsNotFound(err) {
		return Choice{}, fmt.Errorf("read worker: %w", err)
	}
	if worker.AsideUntil > tx.Now {
		return Choice{}, nil
	}
	jobID, err := nextJob(ctx, tx, holder, prefer)
	if err != nil || jobID != "" {
		return Choice{JobID: jobID, Open: jobID == prefer}, err
	}
	return leftOver(ctx, tx, holder)
}

// Take leases the frames of a choice to holder, limit at most, the first ones first:
// a frame that failed comes again before the job goes on, so that a file that no
// worker can render is found out by its first frames. RecordClaim follows.
func Take(ctx context.Context, tx *db.Tx, holder string, c Choice, limit int, life time.Duration) ([]lease.Lease, error) {
	if c.LeaseID != "" {
		return lease.ClaimIDs(ctx, tx, []string{c.LeaseID}, holder, life)
	}
	ids, err := tx.FramesFor(ctx, query.FramesForParams{JobID: c.JobID, Now: tx.Now, Holder: holder, Max: int64(limit)})
	if err != nil {
		return nil, fmt.Errorf("pick frames of %s: %w", c.JobID, err)
	}
	return lease.ClaimIDs(ctx, tx, ids, holder, life)
}

// leftOver finds what holder has failed before and nobody else is there to do.
func leftOver(ctx context.Context, tx *db.Tx, holder string) (Choice, error) {
	since := onlineSince(tx)
	frame, err := tx.FrameLeft(ctx, query.FrameLeftParams{Holder: holder, Now: tx.Now, Since: since})
	if err == nil {
		return Choice{JobID: frame.Subject, LeaseID: frame.LeaseID}, nil
	}
	if !db.IsNotFound(err) {
		return Choice{}, fmt.Errorf("look for frames that are left: %w", err)
	}
	jobID, err := tx.JobLeft(ctx, query.JobLeftParams{Holder: holder, Now: tx.Now, Since: since})
	if err != nil && !db.IsNotFound(err) {
		return Choice{}, fmt.Errorf("look for jobs that are left: %w", err)
	}
	return Choice{JobID: jobID}, nil
}

// nextJob is prefer, as long as that has not had much more than its share, else the
// job whose turn it is; "" when no job has a frame for holder.
func nextJob(ctx context.Context, tx *db.Tx, holder, prefer string) (jobID string, err error) {
	first, served, err := firstOpen(ctx, tx, holder)
	if err != nil || prefer == "" || first == "" || prefer == first {
		return first, err
	}
	open, err := tx.TurnOfJob(ctx, prefer)
	if db.IsNotFound(err) {
		return first, nil
	}
	if err != nil {
		return "", fmt.Errorf("read the turn of %s: %w", prefer, err)
	}
	if max(open.WorkspaceServedUs-served, open.AheadUs) > stay.Microseconds() {
		return first, nil
	}
	has, err := isOpen(ctx, tx, holder, prefer)
	if err != nil || !has {
		return first, err
	}
	return prefer, nil
}

// firstOpen is whose turn it is: of the workspace that was served least among
// those with a frame for holder, the job that was served least; and how much the
// workspace was served.
func firstOpen(ctx context.Context, tx *db.Tx, holder string) (jobID string, served int64, err error) {
	err = eachTurn(ctx, tx, "", func(workspace query.TurnsOfRow) (found bool, err error) {
		err = eachTurn(ctx, tx, workspace.Party, func(job query.TurnsOfRow) (bool, error) {
			if found, err = isOpen(ctx, tx, holder, job.Party); found {
				jobID, served = job.Party, workspace.ServedUs
			}
			return found, err
		})
		return found, err
	})
	return jobID, served, err
}

// turnBatch is how many turns are read at once: the first is nearly always the one.
const turnBatch = 8

// eachTurn shows those of within that have frames waiting, the least served first,
// until look says that it has found what it wants.
func eachTurn(ctx context.Context, tx *db.Tx, within string, look func(query.TurnsOfRow) (found bool, err error)) error {
	last := query.TurnsOfRow{ServedUs: math.MinInt64}
	for {
		turns, err := tx.TurnsOf(ctx, query.TurnsOfParams{Within: within, ServedUs: last.ServedUs, Party: last.Party, Max: turnBatch})
		if err != nil {
			return fmt.Errorf("read the turns: %w", err)
		}
		for _, turn := range turns {
			if found, err := look(turn); found || err != nil {
				return err
			}
			last = turn
		}
		if len(turns) < turnBatch {
			return nil
		}
	}
}

// isOpen tells whether a job has a frame for holder.
func isOpen(ctx context.Context, tx *db.Tx, holder, jobID string) (bool, error) {
	n, err := tx.TurnOpen(ctx, query.TurnOpenParams{JobID: jobID, Now: tx.Now, Holder: holder})
	if err != nil {
		return false, fmt.Errorf("look for frames of %s: %w", jobID, err)
	}
	return n > 0, nil
}
