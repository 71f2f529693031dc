package frames

import (
	"context"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/framecheck"
	"svc.example/internal/work/job"
)

// doubtBlanks compares the blank frames of a job whose frames are all in with their
// neighbours. One that stands out is put back, to be rendered once more. It returns
// the job as it is then.
func (f *Frames) doubtBlanks(ctx context.Context, tx *db.Tx, record job.Record) (job.Record, error) {
	rows, err := tx.FramesPartlyBlank(ctx, query.FramesPartlyBlankParams{JobID: record.JobID, Step: record.FrameStep, Blank: framecheck.BlankApart})
	if err != nil {
		return record, fmt.Errorf("read blank frames: %w", err)
	}
	for _, row := range rows {
		switch {
		case row.Finding != "": // confirmed
		case framecheck.StandsOut(row.Blank, row.BlankBefore, row.BlankBehind):
			record, err = f.putBack(ctx, tx, record, row)
		case row.Blank == framecheck.WholeFrame:
			_, err = tx.FrameFinding(ctx, query.FrameFindingParams{JobID: record.JobID, Frame: row.Frame, Finding: framecheck.FindingUniform})
		}
		if err != nil || job.Status(record.Status) != job.Rendering {
			return record, err
		}
	}
	return record, nil
}

// putBack has an accepted frame rendered again. Its file is cleared with the job.
func (f *Frames) putBack(ctx context.Context, tx *db.Tx, record job.Record, row query.FramesPartlyBlankRow) (job.Record, error) {
	ref := lease.Ref{ID: LeaseID(record.JobID, int(row.Frame)), Holder: row.WorkerID, Attempt: row.Attempt}
	if _, err := tx.FrameDelete(ctx, query.FrameDeleteParams{JobID: record.JobID, Frame: row.Frame}); err != nil {
		return record, fmt.Errorf("take a frame back: %w", err)
	}
	record, err := job.UncountFrame(ctx, tx, record.JobID, row.RenderUs)
	if err != nil {
		return record, err
	}
	if err := lease.Reopen(ctx, tx, dispatch.FrameQueue, record.JobID, row.Frame, row.Attempt); err != nil {
		return record, err
	}
	if err := dispatch.RecordRelease(ctx, tx, job.ForDispatch(record)); err != nil {
		return record, err
	}
	return record, f.recordFailure(ctx, tx, &record, ref, row.Frame, framecheck.DoubtBlank(row.Blank, row.PixelSha256))
}
