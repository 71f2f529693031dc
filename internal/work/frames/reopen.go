package frames

import (
	"context"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
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
		case row.Confirmed || row.Finding == framecheck.FindingPink || row.Finding == framecheck.FindingBlank: // a second rendering had the same pixels, or was asked for already
		case framecheck.DiffersFromNeighbours(row.Blank, row.BlankBefore, row.BlankBehind):
			record, err = f.reopenFrame(ctx, tx, record, accepted{row.Frame, row.WorkerID, row.Attempt, row.RenderUs, false}, framecheck.SuspectBlank(row.Blank, row.PixelSha256))
		// No neighbour contradicts it, so the scene may be meant so. The receipt lists the
		// finding.
		case row.Blank == framecheck.WholeFrame && row.Finding == "":
			var found query.Frame
			found, err = tx.FrameFinding(ctx, query.FrameFindingParams{JobID: record.JobID, Frame: row.Frame, Finding: framecheck.FindingUniform})
			_, err = frameRows.Changed(ctx, tx, found, err)
		}
		if err != nil || job.Status(record.Status) != job.Rendering {
			return record, err
		}
	}
	return record, nil
}

// accepted is an accepted frame as it is put back: its number, worker and attempt, and
// its time in microseconds.
type accepted struct {
	frame    int64
	worker   string
	attempt  int64
	renderUs int64
	taken    bool // over from another job: nobody has rendered it for this one
}

// reopenFrame puts an accepted frame back on the queue. Its file stays until the job's
// files are cleared: the row that is deleted here no longer names it. What Accept did to
// the job is undone first: the row, the count, the finished lease, the turn. Then the
// attempt counts as failed, as if the picture had been refused at once, and the next
// attempt gets a higher number.
func (f *Frames) reopenFrame(ctx context.Context, tx *db.Tx, record job.Record, a accepted, why framecheck.Failure) (job.Record, error) {
	ref := lease.Ref{ID: LeaseID(record.JobID, int(a.frame)), Holder: a.worker, Attempt: a.attempt}
	if _, err := tx.FrameDelete(ctx, query.FrameDeleteParams{JobID: record.JobID, Frame: a.frame}); err != nil {
		return record, fmt.Errorf("reopen a frame: %w", err)
	}
	if err := tx.FrameOutputsDrop(ctx, query.FrameOutputsDropParams{JobID: record.JobID, Frame: a.frame}); err != nil {
		return record, fmt.Errorf("reopen a frame: %w", err)
	}
	if f.Cuts != nil {
		if err := f.Cuts.Reopen(ctx, tx, record.JobID, a.frame); err != nil {
			return record, err
		}
	}
	record, err := job.UncountFrame(ctx, tx, record.JobID, a.renderUs, a.taken)
	if err != nil {
		return record, err
	}
	if err := lease.Reopen(ctx, tx, dispatch.FrameQueue, record.JobID, a.frame, a.attempt); err != nil {
		return record, err
	}
	if err := dispatch.RecordRelease(ctx, tx, job.ForDispatch(record)); err != nil {
		return record, err
	}
	return record, f.recordFailure(ctx, tx, &record, ref, a.frame, why)
}

// RenderAgain puts frames of a job in packaging back on the queue, because their files
// are gone or differ from what was accepted. l is the job's lease of job.PackageQueue,
// which ends. Each counts as a failed attempt of its frame, so that a disk that loses
// every picture ends the job, with packaging_failed; no worker is blamed for it. Errors:
// lease.ErrLost and job.ErrNotPackaging when another process was faster.
func (f *Frames) RenderAgain(ctx context.Context, l lease.Lease, lost []int64) error {
	return f.DB.Write(ctx, func(tx *db.Tx) error {
		record, err := job.Lock(ctx, tx, l.Subject)
		if err != nil {
			return err
		}
		if err := job.ResumeRendering(ctx, tx, record, l); err != nil {
			return err
		}
		for _, frame := range lost {
			row, err := tx.FrameGet(ctx, query.FrameGetParams{JobID: record.JobID, Frame: frame})
			if err != nil {
				return fmt.Errorf("read frame %d: %w", frame, err)
			}
			record, err = f.reopenFrame(ctx, tx, record, accepted{row.Frame, row.WorkerID, row.Attempt, row.RenderUs, row.Origin != ""},
				framecheck.Failure{Code: fault.PackagingFailed, Message: "The stored picture is missing or damaged."})
			if err != nil {
				return err
			}
			if job.Status(record.Status) != job.Rendering {
				break // that frame has ended the job
			}
		}
		return tell(ctx, tx, record)
	})
}
