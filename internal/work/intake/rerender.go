package intake

import (
	"context"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/render/framelist"
	"svc.example/internal/work/job"
	"svc.example/internal/work/quote"
)

// Rerender locks a price for frames of a job that has ended, over the upload that the job
// rendered and with its settings, in the caller's transaction. It changes nothing in that job and spends
// nothing: the new job begins when the quote is started. Errors: render_not_found,
// render_not_completed while the job runs, invalid_frame_range for a frame that the job
// does not have, upload_not_found when the upload is gone.
func (in *Intake) Rerender(ctx context.Context, tx *db.Tx, workspaceID, jobID string, frames framelist.List) (Inspection, error) {
	record, err := job.Find(ctx, tx, workspaceID, jobID)
	if err != nil {
		return Inspection{}, err
	}
	if !job.Status(record.Status).Terminal() {
		return Inspection{}, fault.New(fault.RenderNotCompleted, "The render %s. Its frames can be rendered again once it has ended.", job.Status(record.Status).Said()).
			WithAction("Poll the job until it has ended.")
	}
	has, err := quote.ListOf(record.FrameStart, record.FrameEnd, record.FrameStep, record.FrameCount, record.Frames)
	if err != nil {
		return Inspection{}, err
	}
	if other := without(frames, has); len(other) > 0 {
		return Inspection{}, fault.New(fault.InvalidFrameRange, "%s has no frame %d.", jobID, other[0]).
			With(map[string]string{"not_in_job": other.String(), "frame_list": has.String()}).
			WithAction("Choose frames that the job has, or quote other frames of its upload.")
	}
	choice, err := quote.ChoiceOf(ctx, tx, record.QuoteID)
	if err != nil {
		return Inspection{}, err
	}
	i, err := in.Requote(ctx, tx, workspaceID, record.UploadID, quote.RequestedFrames{List: frames, RerenderOf: jobID, Choice: choice})
	if fault.Is(err, fault.UploadNotFound) {
		err = fault.New(fault.UploadNotFound, "The file that %s rendered no longer exists: it was deleted or has expired.", jobID).
			WithAction("Upload the file again with inspect and quote these frames of the new upload.")
	}
	return i, err
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
