package intake

import (
	"context"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/render/framelist"
	"svc.example/internal/work/job"
	"svc.example/internal/work/quote"
)

// Rerender finds out for frames of a job that has ended what a price of them is for, over the
// upload that the job rendered and with its settings, and returns what locks it in the caller's
// transaction. That changes nothing in the job and spends nothing: the new job begins when the
// quote is started. Errors of both: render_not_found, render_not_completed while the job runs,
// invalid_frame_range for a frame that the job does not have, upload_not_found when the upload
// is gone.
func (in *Intake) Rerender(ctx context.Context, workspaceID, jobID string, frames framelist.List) (lock func(context.Context, *db.Tx) (Inspection, error), err error) {
	requested := quote.RequestedFrames{List: frames, RerenderOf: jobID}
	var uploadID string
	err = in.DB.Read(ctx, func(tx *db.Tx) error {
		record, err := job.Find(ctx, tx, workspaceID, jobID)
		if err != nil {
			return err
		}
		uploadID = record.UploadID
		if err := rerenderable(record, frames); err != nil {
			return err
		}
		requested.Choice, err = quote.ChoiceOf(ctx, tx, record.QuoteID)
		return err
	})
	if err != nil {
		return nil, err
	}
	own, err := in.own(ctx, workspaceID, uploadID, func(*db.Tx, query.Upload) error { return nil })
	if err != nil {
		return nil, renderedGone(jobID, err)
	}
	requested.Own = &own
	return func(ctx context.Context, tx *db.Tx) (Inspection, error) {
		i, err := in.Requote(ctx, tx, workspaceID, uploadID, requested)
		return i, renderedGone(jobID, err)
	}, nil
}

// renderedGone says that the file of a job is gone, where err is that.
func renderedGone(jobID string, err error) error {
	if !fault.Is(err, fault.UploadNotFound) {
		return err
	}
	return fault.New(fault.UploadNotFound, "The file that %s rendered no longer exists: it was deleted or has expired.", jobID).
		WithAction("Upload the file again with inspect and quote these frames of the new upload.")
}

// rerenderable refuses a job that runs, and frames that a job does not have.
func rerenderable(record job.Record, frames framelist.List) error {
	if !job.Status(record.Status).Terminal() {
		return fault.New(fault.RenderNotCompleted, "The render %s. Its frames can be rendered again once it has ended.", job.Status(record.Status).Said()).
			WithAction("Poll the job until it has ended.")
	}
	has, err := quote.ListOf(record.FrameStart, record.FrameEnd, record.FrameStep, record.FrameCount, record.Frames)
	if err != nil {
		return err
	}
	if other := without(frames, has); len(other) > 0 {
		return fault.New(fault.InvalidFrameRange, "%s has no frame %d.", record.JobID, other[0]).
			With(map[string]string{"not_in_job": other.String(), "frame_list": has.String()}).
			WithAction("Choose frames that the job has, or quote other frames of its upload.")
	}
	return nil
}

// without returns the frames of a list that another one has not.
func without(l, has framelist.List) (rest framelist.List) {
	for _, n := range l {
		if !has.Has(n) {
			rest = append(rest, n)
		}
	}
	return rest
}
