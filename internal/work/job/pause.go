package job

import (
	"context"
	"log/slog"

	"svc.example/internal/ground/db"
	"svc.example/internal/work/dispatch"
)

// Pause keeps workers from taking more frames of a job of a workspace, in the caller's
// transaction; frames that they have are finished. Errors: render_not_found,
// render_not_pausable.
func (j *Jobs) Pause(ctx context.Context, tx *db.Tx, workspaceID, jobID string, by dispatch.Pauser) (Object, error) {
	return j.queued(ctx, tx, workspaceID, jobID, "job paused", func(job dispatch.Job) error { return dispatch.Pause(ctx, tx, job, by) }, "by", by)
}

// Resume lets workers take frames of a paused job again. Errors: render_not_found,
// render_not_pausable, paused_by_operator.
func (j *Jobs) Resume(ctx context.Context, tx *db.Tx, workspaceID, jobID string, by dispatch.Pauser) (Object, error) {
	return j.queued(ctx, tx, workspaceID, jobID, "job resumed", func(job dispatch.Job) error { return dispatch.Resume(ctx, tx, job, by) }, "by", by)
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
