package dispatch

import (
	"context"
	"errors"
	"fmt"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
)

// Pauser names the side that paused a job.
type Pauser string

// Both may pause a job, and a workspace cannot resume what an operator has paused.
const (
	ByWorkspace Pauser = "workspace"
	ByOperator  Pauser = "operator"
)

// Bounds of a job's priority, and the one that it begins with.
const (
	LowestPriority  = contract.LowestPriority
	DefaultPriority = contract.DefaultPriority
	HighestPriority = contract.HighestPriority
)

// ErrPaused means that a job was paused after it was chosen for a worker.
var ErrPaused = errors.New("the job is paused")

// Pause gives no more frames of a job to workers until Resume; those that they have are
// finished. Pausing a paused job changes nothing, but an operator takes a workspace's pause
// over. The caller holds the lock of the job. Error: render_not_pausable.
func Pause(ctx context.Context, tx *db.Tx, job Job, by Pauser) error {
	turn, err := lockTurn(ctx, tx, job.JobID)
	if err != nil || turn.Paused == string(by) || turn.Paused == string(ByOperator) {
		return err
	}
	if err := tx.TurnPause(ctx, query.TurnPauseParams{Paused: string(by), Now: tx.Now, Party: job.JobID}); err != nil {
		return fmt.Errorf("pause %s: %w", job.JobID, err)
	}
	if turn.Paused == "" {
		_, err = moveTurn(ctx, tx, query.TurnMoveParams{Party: job.WorkspaceID, Waiting: -turn.Waiting})
	}
	return err
}

// Resume lets workers take frames of a paused job again. It and its workspace begin where a
// newcomer would, unless they received more. Resuming a job that is not paused changes nothing.
// The caller holds the lock of the job. Errors: render_not_pausable, paused_by_operator.
func Resume(ctx context.Context, tx *db.Tx, job Job, by Pauser) error {
	turn, err := lockTurn(ctx, tx, job.JobID)
	if err != nil || turn.Paused == "" {
		return err
	}
	if by == ByWorkspace && turn.Paused == string(ByOperator) {
		return fault.New(fault.PausedByOperator, "An operator has paused job %s.", job.JobID)
	}
	now, err := tx.TurnNow(ctx, query.TurnNowParams{Within: turn.Within, Priority: turn.Priority})
	if err == nil {
		err = tx.TurnResume(ctx, query.TurnResumeParams{ServedUs: now, Party: job.JobID})
	}
	if err == nil {
		now, err = tx.TurnNow(ctx, query.TurnNowParams{Priority: DefaultPriority})
	}
	if err == nil {
		err = tx.TurnEnter(ctx, query.TurnEnterParams{Party: job.WorkspaceID, Waiting: turn.Waiting, ServedUs: now})
	}
	if err != nil {
		return fmt.Errorf("resume %s: %w", job.JobID, err)
	}
	tx.Announce(lease.Topic(FrameQueue))
	return nil
}

// SetPriority orders a job among those of its workspace: workers take frames of jobs with a
// higher priority first. Other workspaces notice nothing. It begins level with the jobs that
// have this priority already. The caller holds the lock of the job. Errors: invalid_request,
// render_not_pausable.
func SetPriority(ctx context.Context, tx *db.Tx, job Job, priority int) error {
	if priority < LowestPriority || priority > HighestPriority {
		return fault.Field("priority", "is %d; it must be %d to %d", priority, LowestPriority, HighestPriority)
	}
	turn, err := lockTurn(ctx, tx, job.JobID)
	if err != nil || turn.Priority == int64(priority) {
		return err
	}
	now, err := tx.TurnNow(ctx, query.TurnNowParams{Within: turn.Within, Priority: int64(priority)})
	if err == nil {
		err = tx.TurnRank(ctx, query.TurnRankParams{Priority: int64(priority), ServedUs: now, Party: job.JobID})
	}
	if err != nil {
		return fmt.Errorf("give %s a priority: %w", job.JobID, err)
	}
	tx.Announce(lease.Topic(FrameQueue))
	return nil
}

// PausedSince returns the side that paused a job and the time in microseconds since 1970, or ""
// and 0 if the job is not paused.
func PausedSince(ctx context.Context, tx *db.Tx, jobID string) (by Pauser, at int64, err error) {
	row, err := tx.TurnPaused(ctx, jobID)
	if err != nil && !db.IsNotFound(err) {
		return "", 0, fmt.Errorf("read the pause of %s: %w", jobID, err)
	}
	return Pauser(row.Paused), row.PausedAt, nil
}

// lockTurn locks the turn of a job that is queued or rendering. Error: render_not_pausable.
func lockTurn(ctx context.Context, tx *db.Tx, jobID string) (query.Turn, error) {
	turn, err := tx.TurnLock(ctx, jobID)
	if db.IsNotFound(err) {
		return turn, fault.New(fault.RenderNotPausable, "Job %s has no frames left to render.", jobID)
	}
	if err != nil {
		return turn, fmt.Errorf("read the turn of %s: %w", jobID, err)
	}
	return turn, nil
}
