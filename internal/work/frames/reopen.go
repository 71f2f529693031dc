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

// recheckBlanks compares the blank frames of a complete job with their neighbours, which
// no single report could do: frames arrive in any order. It reopens a frame that differs,
// and returns the job after that. It runs in the transaction that accepts the last frame,
// which holds the job's lock: no caller sees the job complete and then incomplete. A
// reopened frame may end the job, which stops the loop.
func (f *Frames) recheckBlanks(ctx context.Context, tx *db.Tx, record job.Record) (job.Record, error) {
	rows, err := tx.FramesPartlyBlank(ctx, query.FramesPartlyBlankParams{JobID: record.JobID, Step: record.FrameStep, Blank: framecheck.BlankDifference})
	if err != nil {
		return record, fmt.Errorf("read blank frames: %w", err)
	}
	for _, row := range rows {
		switch {
		case row.Finding != "": // a second rendering confirmed it
		case framecheck.DiffersFromNeighbours(row.Blank, row.BlankBefore, row.BlankBehind):
			record, err = f.reopenFrame(ctx, tx, record, row)
		// No neighbour contradicts it, so the scene may be meant so. The receipt lists the
		// finding.
		case row.Blank == framecheck.WholeFrame:
			_, err = tx.FrameFinding(ctx, query.FrameFindingParams{JobID: record.JobID, Frame: row.Frame, Finding: framecheck.FindingUniform})
		}
		if err != nil || job.Status(record.Status) != job.Rendering {
			return record, err
		}
	}
	return record, nil
}

// reopenFrame puts an accepted frame back on the queue. Its file stays until the job's
// files are cleared: the row that is deleted here no longer names it. What Accept did to
// the job is undone first: the row, the count, the finished lease, the turn. Then the
// attempt counts as failed, as if the picture had been refused at once, and the next
// attempt gets a higher number.
func (f *Frames) reopenFrame(ctx context.Context, tx *db.Tx, record job.Record, row query.FramesPartlyBlankRow) (job.Record, error) {
	ref := lease.Ref{ID: LeaseID(record.JobID, int(row.Frame)), Holder: row.WorkerID, Attempt: row.Attempt}
	if _, err := tx.FrameDelete(ctx, query.FrameDeleteParams{JobID: record.JobID, Frame: row.Frame}); err != nil {
		return record, fmt.Errorf("reopen a frame: %w", err)
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
	return record, f.recordFailure(ctx, tx, &record, ref, row.Frame, framecheck.SuspectBlank(row.Blank, row.PixelSha256))
}
