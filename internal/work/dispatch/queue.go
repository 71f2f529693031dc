package dispatch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/lease"
)

// unknownFrame is what a frame of a job counts of which none is rendered yet.
const unknownFrame = 10 * time.Second

// Span is a row of frames: First, First+Step, and so on.
type Span struct{ First, Step, Count int64 }

// Enqueue hands all frames of a job to the workers.
func Enqueue(ctx context.Context, tx *db.Tx, job Job, frames Span) error {
	if err := lease.AddSpan(ctx, tx, FrameQueue, job.JobID, frames.First, frames.Step, frames.Count); err != nil {
		return err
	}
	for _, turn := range []query.TurnEnterParams{
		{Party: job.JobID, Within: job.WorkspaceID, Waiting: frames.Count}, {Party: job.WorkspaceID, Waiting: frames.Count},
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

// RecordClaim notes that n waiting frames of a job are with a worker now, and counts
// the time that the job has had by now. It returns how many still wait.
func RecordClaim(ctx context.Context, tx *db.Tx, job Job, n int64) (waiting int64, err error) {
	turn, err := tx.TurnLock(ctx, job.JobID)
	if err != nil {
		return 0, fmt.Errorf("read the turn of %s: %w", job.JobID, err)
	}
	waiting = turn.Waiting - n
	had := timeHad(job, job.FrameCount-job.FramesCompleted-waiting) - turn.CountedUs
	return waiting, moveTurns(ctx, tx, job, -n, had)
}

// RecordFirstFrame counts the time of a job whose first frame is in: what its frames
// take is no guess any longer.
func RecordFirstFrame(ctx context.Context, tx *db.Tx, job Job) error {
	_, err := RecordClaim(ctx, tx, job, 0)
	return err
}

// RecordRelease notes that a frame of a job waits again.
func RecordRelease(ctx context.Context, tx *db.Tx, job Job) error {
	return moveTurns(ctx, tx, job, 1, 0)
}

// Dequeue ends a job's turns and drops the frames that it still has. job is as it is
// at its end. A job that never came to the workers is no error.
func Dequeue(ctx context.Context, tx *db.Tx, job Job) error {
	if err := lease.Drop(ctx, tx, FrameQueue, job.JobID); err != nil {
		return err
	}
	turn, err := tx.TurnLock(ctx, job.JobID)
	if db.IsNotFound(err) {
		return nil
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

func moveTurns(ctx context.Context, tx *db.Tx, job Job, waiting, had int64) error {
	for _, move := range []query.TurnMoveParams{
		{Party: job.JobID, Waiting: waiting, ServedUs: had, CountedUs: had}, {Party: job.WorkspaceID, Waiting: waiting, ServedUs: had},
	} {
		n, err := tx.TurnMove(ctx, move)
		if err == nil && n != 1 {
			err = errors.New("it has none")
		}
		if err != nil {
			return fmt.Errorf("move the turn of %s: %w", move.Party, err)
		}
	}
	return nil
}

// timeHad is the workers' time that a job has had, in microseconds: its rendered
// frames, and held ones at the mean of those.
func timeHad(job Job, held int64) int64 {
	mean := unknownFrame.Microseconds()
	if job.FramesCompleted > 0 {
		mean = job.RenderUs / job.FramesCompleted
	}
	return job.RenderUs + held*mean
}
