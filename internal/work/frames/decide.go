package frames

import (
	"context"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/job"
)

// DecideFailures ends the jobs whose failed attempt awaited confirmation by another key,
// as soon as no such key is available any more, and drops the wait where it has no reason
// any more: the frame was rendered, the job ended, or the attempt no longer counts.
// Several processes may call it at once.
func (f *Frames) DecideFailures(ctx context.Context) error {
	var due []dispatch.Undecided
	err := f.DB.Read(ctx, func(tx *db.Tx) error {
		due = nil
		all, err := dispatch.ListUndecided(ctx, tx)
		if err != nil {
			return err
		}
		for _, u := range all {
			record, err := job.Read(ctx, tx, u.JobID)
			if err != nil {
				return err
			}
			v, err := f.verdict(ctx, tx, record, u)
			if err != nil {
				return err
			}
			if v != stillUndecided {
				due = append(due, u)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, u := range due {
		if err := f.DB.Write(ctx, func(tx *db.Tx) error { return f.decide(ctx, tx, u) }); err != nil {
			return err
		}
	}
	return nil
}

// verdict is what becomes of an undecided attempt.
type verdict int

const (
	stillUndecided verdict = iota
	endsJob
	noReason // to wait any longer
)

// decide carries out the verdict on an undecided attempt.
func (f *Frames) decide(ctx context.Context, tx *db.Tx, u dispatch.Undecided) error {
	record, err := job.Lock(ctx, tx, u.JobID)
	if err != nil {
		return err
	}
	v, err := f.verdict(ctx, tx, record, u)
	if err != nil || v == stillUndecided {
		return err
	}
	if v == endsJob {
		f.Log.Warn("job ends on the word of one node key: no other gave its own in time", "job_id", u.JobID, "frame", u.Frame, "worker_id", u.Ref.Holder, "code", u.Failure.Code)
		if err := f.failJob(ctx, tx, record, u.Frame, u.Failure); err != nil {
			return err
		}
	}
	return dispatch.SetUndecided(ctx, tx, u.Ref, false)
}

// verdict judges an undecided attempt by the facts of now. It writes nothing.
func (f *Frames) verdict(ctx context.Context, tx *db.Tx, record job.Record, u dispatch.Undecided) (verdict, error) {
	if job.Status(record.Status) != job.Rendering {
		return noReason, nil
	}
	frame, err := tx.LeaseGet(ctx, u.Ref.ID)
	switch {
	case db.IsNotFound(err):
		return noReason, nil // it was rendered
	case err != nil:
		return stillUndecided, fmt.Errorf("read lease: %w", err)
	case frame.Holder != "":
		return stillUndecided, nil // a worker of another key renders it
	}
	if painted, err := candidatesOf(ctx, tx, u.JobID, int(u.Frame)); err != nil || len(painted) > 0 {
		return noReason, err
	}
	h, err := dispatch.HistoryOf(ctx, tx, job.ForDispatch(record), u.Ref, u.Frame, u.Failure)
	h.OtherKey = h.OtherKey && tx.Time().Sub(u.Since) < dispatch.LongestUndecided
	switch {
	case err != nil:
		return stillUndecided, err
	case u.Failure.EndsJob(h):
		return endsJob, nil
	case u.Failure.AwaitsOtherKey(h):
		return stillUndecided, nil
	}
	return noReason, nil
}
