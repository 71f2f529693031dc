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

// assumedFrameTime is the render time of a claimed frame while no frame of its job is
// accepted. Without an assumption a new job would claim every worker at no cost.
const assumedFrameTime = 10 * time.Second

// Span is the frames of a job: Count of them, First, First+Step, and so on. If they are
// not such a sequence, Items lists them.
type Span struct {
	First, Step, Count int64
	Items              []int64
}

// Enqueue puts all frames of a job on the queue and gives the job a turn. Turns start
// at the time that the least served rival has received, not at zero: a newcomer is
// next soon, and cannot claim the time that others received before it came.
func Enqueue(ctx context.Context, tx *db.Tx, job Job, frames Span) error {
	add := func() error {
		return lease.AddSpan(ctx, tx, FrameQueue, job.JobID, frames.First, frames.Step, frames.Count)
	}
	if frames.Items != nil {
		add = func() error { return lease.AddItems(ctx, tx, FrameQueue, job.JobID, frames.Items) }
	}
	if err := add(); err != nil {
		return err
	}
	for _, turn := range []query.TurnEnterParams{
		{Party: job.JobID, Within: job.WorkspaceID, Waiting: frames.Count}, {Party: job.WorkspaceID, Waiting: frames.Count},
	} {
		now, err := tx.TurnNow(ctx, query.TurnNowParams{Within: turn.Within, Priority: DefaultPriority})
		if err != nil {
			return fmt.Errorf("read the turns: %w", err)
		}
		turn.ServedUs = now
		if err := tx.TurnEnter(ctx, turn); err != nil {
			return fmt.Errorf("give %s a turn: %w", turn.Party, err)
		}
	}
	return errors.Join(joinPools(ctx, tx, job.JobID), recordScene(ctx, tx, job))
}

// Reenter gives a turn again to a job all of whose frames were accepted, and whose
// turn has ended. Nothing of it waits yet: RecordRelease counts each frame that is put
// back. What it and its workspace were charged for its frames stays charged, so it begins no
// earlier than where its own time has brought it.
func Reenter(ctx context.Context, tx *db.Tx, job Job) error {
	for _, turn := range []query.TurnEnterParams{{Party: job.JobID, Within: job.WorkspaceID}, {Party: job.WorkspaceID}} {
		now, err := tx.TurnNow(ctx, query.TurnNowParams{Within: turn.Within, Priority: DefaultPriority})
		if err != nil {
			return fmt.Errorf("read the turns: %w", err)
		}
		if turn.ServedUs = now; turn.Party == job.JobID {
			turn.ServedUs = max(now, job.RenderUs)
		}
		if err := tx.TurnEnter(ctx, turn); err != nil {
			return fmt.Errorf("give %s a turn: %w", turn.Party, err)
		}
	}
	if _, err := moveTurn(ctx, tx, query.TurnMoveParams{Party: job.JobID, CountedUs: job.RenderUs}); err != nil {
		return err
	}
	if err := joinPools(ctx, tx, job.JobID); err != nil {
		return err
	}
	if err := restoreKind(ctx, tx, job.JobID); err != nil {
		return err
	}
	return recordScene(ctx, tx, job)
}

// RecordChoice is RecordClaim for the worker of a choice. Errors: also ErrPaused, ErrPool and
// ErrLimit, after which the caller gives its transaction up too.
func RecordChoice(ctx context.Context, tx *db.Tx, job Job, c Choice, n int64) (waiting int64, err error) {
	turn, err := tx.TurnLock(ctx, job.JobID)
	if err != nil {
		return 0, fmt.Errorf("read the turn of %s: %w", job.JobID, err)
	}
	if turn.Paused != "" {
		return 0, ErrPaused
	}
	if turn.Pools&c.pools != turn.Pools {
		return 0, ErrPool
	}
	if waiting, err = RecordClaim(ctx, tx, job, c.kind, n); err != nil || c.mostHeld == 0 {
		return waiting, err
	}
	// The claim has locked the turn of the workspace: another claim counts after this one.
	held, err := tx.WorkspaceHeld(ctx, job.WorkspaceID)
	if err != nil {
		return 0, fmt.Errorf("count the frames of %s in workers' hands: %w", job.WorkspaceID, err)
	}
	if held > c.mostHeld {
		return 0, ErrLimit
	}
	return waiting, nil
}

// RecordClaim records that a worker of a kind, or the service itself with "", claimed n
// waiting frames of a job, and charges the
// job for its claimed frames at once: several workers that claim at the same moment
// then see different turns. It returns the number of frames that still wait. Error:
// ErrOtherKind, after which the caller gives its transaction up.
func RecordClaim(ctx context.Context, tx *db.Tx, job Job, kind string, n int64) (waiting int64, err error) {
	turn, err := tx.TurnLock(ctx, job.JobID)
	if err != nil {
		return 0, fmt.Errorf("read the turn of %s: %w", job.JobID, err)
	}
	if err := keepKind(ctx, tx, turn, kind); err != nil {
		return 0, err
	}
	waiting = turn.Waiting - n
	served := servedTime(job, job.FrameCount-job.FramesCompleted-waiting) - turn.CountedUs
	return waiting, adjustTurns(ctx, tx, job, -n, served)
}

// RecordFirstFrame recomputes a job's charge when its first frame is accepted: from then
// on the measured time replaces assumedFrameTime.
func RecordFirstFrame(ctx context.Context, tx *db.Tx, job Job) error {
	_, err := RecordClaim(ctx, tx, job, "", 0)
	return err
}

// RecordRelease records that a claimed frame of a job waits again. The job's time is
// corrected with the next claim.
func RecordRelease(ctx context.Context, tx *db.Tx, job Job) error {
	if err := adjustTurns(ctx, tx, job, 1, 0); err != nil {
		return err
	}
	if job.Pinned {
		return nil
	}
	if err := tx.TurnFree(ctx, query.TurnFreeParams{Party: job.JobID, Frames: job.FrameCount}); err != nil {
		return fmt.Errorf("free the kind of %s: %w", job.JobID, err)
	}
	return nil
}

// Dequeue deletes a job's turn and drops its remaining frames. job is its state at the
// end, so that the workspace is charged for exactly the accepted frames. A job that was
// never enqueued is no error: it may be cancelled before its submit.
func Dequeue(ctx context.Context, tx *db.Tx, job Job) error {
	// Strips go after their frames, whose leases are locked before strips are added.
	for _, queue := range []string{FrameQueue, StripQueue} {
		if err := lease.Drop(ctx, tx, queue, job.JobID); err != nil {
			return err
		}
	}
	turn, err := tx.TurnLock(ctx, job.JobID)
	if db.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the turn of %s: %w", job.JobID, err)
	}
	if err := adjustTurns(ctx, tx, job, -turn.Waiting, job.RenderUs-turn.CountedUs); err != nil {
		return err
	}
	if err := tx.TurnDelete(ctx, job.JobID); err != nil {
		return fmt.Errorf("end the turn of %s: %w", job.JobID, err)
	}
	return nil
}

// adjustTurns adds to the turns of a job and of its workspace, in this order (see the
// package comment). Both times are microseconds. What waits of a paused job does not count
// for its workspace.
func adjustTurns(ctx context.Context, tx *db.Tx, job Job, waiting, served int64) error {
	paused, err := moveTurn(ctx, tx, query.TurnMoveParams{Party: job.JobID, Waiting: waiting, ServedUs: served, CountedUs: served})
	if err != nil {
		return err
	}
	if paused {
		waiting = 0
	}
	_, err = moveTurn(ctx, tx, query.TurnMoveParams{Party: job.WorkspaceID, Waiting: waiting, ServedUs: served})
	return err
}

// moveTurn adds to the turn of a job or a workspace, and reports whether it is paused.
func moveTurn(ctx context.Context, tx *db.Tx, move query.TurnMoveParams) (paused bool, err error) {
	by, err := tx.TurnMove(ctx, move)
	if err != nil {
		return false, fmt.Errorf("move the turn of %s: %w", move.Party, err)
	}
	return by != "", nil
}

// servedTime is the workers' time that a job has received, in microseconds: its accepted
// frames, and its claimed ones at the mean of those.
func servedTime(job Job, held int64) int64 { return job.RenderUs + held*meanFrameTime(job) }

// meanFrameTime is what a claimed frame of a job is charged, in microseconds.
func meanFrameTime(job Job) int64 {
	if job.FramesCompleted > 0 {
		return job.RenderUs / job.FramesCompleted
	}
	return assumedFrameTime.Microseconds()
}
