package render

import (
	"context"
	"fmt"
	"math"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/lease"
)

// Workers' time is shared equally among the workspaces that have frames waiting,
// and a workspace's share equally among its jobs. Each has a turn row that adds
// up the time it had; the least served is next (docs/adr/0017).
//
// What always holds: turn.waiting is the number of the job's leases that wait, a
// workspace's the sum over its jobs; a job has a row as long as it is queued or
// rendering. In a transaction turn rows come last, a job's before its
// workspace's.

const (
	// stay is how much more than the next a job may have had before the worker
	// that has its file open leaves it. It bounds what changing files costs: one
	// opening in each such time of a worker. And it bounds how much longer
	// another waits for that.
	stay = 15 * time.Second
	// unknownFrame is what a frame of a job counts of which none is rendered yet.
	unknownFrame = 10 * time.Second
)

// enter hands all frames of a job to the workers.
func enter(ctx context.Context, tx *db.Tx, workspaceID, jobID string, first, step, count int64) error {
	if err := lease.AddSpan(ctx, tx, FrameQueue, jobID, first, step, count); err != nil {
		return err
	}
	for _, turn := range []query.TurnEnterParams{
		{Party: jobID, Within: workspaceID, Waiting: count}, {Party: workspaceID, Waiting: count},
	} {
		now, err := tx.TurnNow(ctx, turn.Within)
		if err != nil {
			return fmt.Errorf("read the turns: %w", err)
		}
		turn.ServedUs = now
		if err := tx.TurnEnter(ctx, turn); err != nil {
			return fmt.Errorf("give %s a turn: %w", turn.Party, err)
		}
	}
	return nil
}

// took notes that n waiting frames of a job are with a worker now, and counts the
// time that the job has had by now. It returns how many still wait.
func took(ctx context.Context, tx *db.Tx, job query.Job, n int64) (waiting int64, err error) {
	turn, err := tx.TurnLock(ctx, job.JobID)
	if err != nil {
		return 0, fmt.Errorf("read the turn of %s: %w", job.JobID, err)
	}
	waiting = turn.Waiting - n
	had := timeHad(job, job.FrameCount-job.FramesCompleted-waiting) - turn.CountedUs
	return waiting, moveTurns(ctx, tx, job, -n, had)
}

// returned notes that a frame of a job waits again.
func returned(ctx context.Context, tx *db.Tx, job query.Job) error {
	return moveTurns(ctx, tx, job, 1, 0)
}

// leave ends a job's turns. job is as it is at its end.
func leave(ctx context.Context, tx *db.Tx, job query.Job) error {
	turn, err := tx.TurnLock(ctx, job.JobID)
	if db.IsNotFound(err) {
		return nil // it never came to the workers
	}
	if err != nil {
		return fmt.Errorf("read the turn of %s: %w", job.JobID, err)
	}
	if err := moveTurns(ctx, tx, job, -turn.Waiting, job.RenderUs-turn.CountedUs); err != nil {
		return err
	}
	if err := tx.TurnDelete(ctx, job.JobID); err != nil {
		return fmt.Errorf("end the turn of %s: %w", job.JobID, err)
	}
	return nil
}

func moveTurns(ctx context.Context, tx *db.Tx, job query.Job, waiting, had int64) error {
	for _, move := range []query.TurnMoveParams{
		{Party: job.JobID, Waiting: waiting, ServedUs: had, CountedUs: had}, {Party: job.WorkspaceID, Waiting: waiting, ServedUs: had},
	} {
		n, err := tx.TurnMove(ctx, move)
		if err == nil && n != 1 {
			err = fmt.Errorf("it has none")
		}
		if err != nil {
			return fmt.Errorf("move the turn of %s: %w", move.Party, err)
		}
	}
	return nil
}

// timeHad is the workers' time that a job has had, in microseconds: its rendered
// frames, and held ones at the mean of those.
func timeHad(job query.Job, held int64) int64 {
	mean := unknownFrame.Microseconds()
	if job.FramesCompleted > 0 {
		mean = job.RenderUs / job.FramesCompleted
	}
	return job.RenderUs + held*mean
}

// next chooses the job that holder renders next: prefer, as long as that has not
// had much more than its share, else whose turn it is; "" when nothing is for
// holder.
func next(ctx context.Context, tx *db.Tx, holder, prefer string) (jobID string, err error) {
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
