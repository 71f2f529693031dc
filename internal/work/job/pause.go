package job

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/dispatch"
)

// PauseChange is when the workspace of a job paused or resumed it. What operators do is in their
// own record.
type PauseChange struct {
	At        int64  `json:"at"`     // microseconds since 1970
	Paused    bool   `json:"paused"` // otherwise resumed
	RequestID string `json:"request_id,omitempty"`
}

// mostPauses bounds how many changes a job's row keeps: the newest.
const mostPauses = 50

// Pauses are the changes of a job, the oldest first.
func Pauses(r Record) (all []PauseChange, err error) {
	if r.Pauses == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(r.Pauses), &all); err != nil {
		return nil, fmt.Errorf("read the pauses of %s: %w", r.JobID, err)
	}
	return all, nil
}

// Pause keeps workers from taking more frames of a job of a workspace, in the caller's
// transaction; frames that they have are finished. Errors: render_not_found,
// render_not_pausable.
func (j *Jobs) Pause(ctx context.Context, tx *db.Tx, workspaceID, jobID string, by dispatch.Pauser) (Object, error) {
	return j.queued(ctx, tx, workspaceID, jobID, "job paused", recorded(ctx, tx, by, dispatch.Pause), "by", by)
}

// Resume lets workers take frames of a paused job again. Errors: render_not_found,
// render_not_pausable, paused_by_operator.
func (j *Jobs) Resume(ctx context.Context, tx *db.Tx, workspaceID, jobID string, by dispatch.Pauser) (Object, error) {
	return j.queued(ctx, tx, workspaceID, jobID, "job resumed", recorded(ctx, tx, by, dispatch.Resume), "by", by)
}

// recorded is a pause or resumption that keeps in the job's row what it changed for a workspace.
func recorded(ctx context.Context, tx *db.Tx, by dispatch.Pauser, change func(context.Context, *db.Tx, dispatch.Job, dispatch.Pauser) error) func(dispatch.Job) error {
	return func(job dispatch.Job) error {
		before, _, err := dispatch.PausedSince(ctx, tx, job.JobID)
		if err == nil {
			err = change(ctx, tx, job, by)
		}
		if err != nil || by != dispatch.ByWorkspace {
			return err
		}
		now, _, err := dispatch.PausedSince(ctx, tx, job.JobID)
		if err != nil || now == before {
			return err
		}
		return keepPause(ctx, tx, job.JobID, PauseChange{At: tx.Now, Paused: now != "", RequestID: fault.RequestID(ctx)})
	}
}

func keepPause(ctx context.Context, tx *db.Tx, jobID string, change PauseChange) error {
	row, err := tx.JobGet(ctx, jobID)
	if err != nil {
		return fmt.Errorf("read job: %w", err)
	}
	all, err := Pauses(row)
	if err != nil {
		return err
	}
	all = append(all, change)
	text, err := json.Marshal(all[max(0, len(all)-mostPauses):])
	if err == nil {
		row, err = tx.JobPauses(ctx, query.JobPausesParams{Pauses: string(text), JobID: jobID})
	}
	if err != nil {
		return fmt.Errorf("keep a pause of %s: %w", jobID, err)
	}
	return jobRows.Renew(ctx, tx, row)
}

// SetPriority orders a job among those of its workspace. Errors: render_not_found,
// invalid_request, render_not_pausable.
func (j *Jobs) SetPriority(ctx context.Context, tx *db.Tx, workspaceID, jobID string, priority int) (Object, error) {
	return j.queued(ctx, tx, workspaceID, jobID, "job priority set", func(job dispatch.Job) error { return dispatch.SetPriority(ctx, tx, job, priority) }, "priority", priority)
}

// queued changes the queue position of a job and tells its watchers.
func (j *Jobs) queued(ctx context.Context, tx *db.Tx, workspaceID, jobID, step string, change func(dispatch.Job) error, more ...any) (Object, error) {
	job, err := lockOf(ctx, tx, workspaceID, jobID)
	if err != nil {
		return Object{}, err
	}
	if err := change(ForDispatch(job)); err != nil {
		return Object{}, err
	}
	tx.Announce(Topic(jobID))
	j.tell(tx, slog.LevelInfo, step, jobID, workspaceID, more...)
	return j.Object(ctx, tx, jobID)
}
