package frames

import (
	"context"
	"errors"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/job"
	"svc.example/internal/work/quote"
)

// Work is the result of a claim: leases on frames of one job. All are of one job because
// a worker has one file open.
type Work struct {
	Job     job.Record
	Leases  []lease.Lease // empty when nothing waits
	Waiting int           // frames of the job that are not held; the worker plans its next claim by it
	Plays   bool          // frames depend on those before
	Scene   string        // the name of the scene that was priced; "" where the holder has the file open
}

// claimAttempts bounds the retries of a claim whose frames another worker claimed between
// the choice and the write. After them the worker simply polls again, so a busy queue
// costs a pause and no error.
const claimAttempts = 3

// Claim leases up to limit frames of one job to holder, as dispatch.Next chooses. open is
// the job whose file holder has open. Holder gets only one frame of a job whose file it
// does not have open. No leases means that nothing waits for holder, or that it is
// suspended. A crash after the commit leaves abandoned leases, which lapse. Errors are
// those of the database.
func (f *Frames) Claim(ctx context.Context, holder string, open dispatch.OpenJob, limit int) (w Work, err error) {
	for range claimAttempts {
		// Idle workers poll often: this read takes no write lock.
		var found dispatch.Choice
		err = f.DB.Read(ctx, func(tx *db.Tx) (err error) {
			found, err = dispatch.Next(ctx, tx, holder, open)
			return err
		})
		if err != nil || found.JobID == "" {
			return Work{}, err
		}
		err = f.DB.Write(ctx, func(tx *db.Tx) (err error) {
			// The choice is made again: the first one may be stale by now.
			w = Work{}
			if found, err = dispatch.Next(ctx, tx, holder, open); err != nil || found.JobID == "" {
				return err
			}
			w, err = f.claim(ctx, tx, holder, found, limit)
			return err
		})
		if dispatch.IsOvertaken(err) {
			w, err = Work{}, nil
		}
		if err != nil || len(w.Leases) > 0 {
			return w, err
		}
	}
	return Work{}, nil
}

// claim leases what dispatch chose. The first claim of a job moves it to rendering, in
// the same transaction: a cancel sees either a queued job or a leased frame.
func (f *Frames) claim(ctx context.Context, tx *db.Tx, holder string, found dispatch.Choice, limit int) (Work, error) {
	record, first, err := job.BeginRendering(ctx, tx, found.JobID)
	if errors.Is(err, job.ErrNotRendering) {
		return Work{}, nil // it ended after the choice
	}
	if err != nil {
		return Work{}, err
	}
	if !found.Open {
		limit = 1 // the worker cannot know yet how long its frames take
	}
	leases, err := dispatch.ClaimFrames(ctx, tx, holder, found, limit, f.LeaseLife)
	if err != nil {
		return Work{}, err
	}
	if len(leases) == 0 {
		// The move to rendering must not commit without a claimed frame: it would be a job
		// that renders nowhere. The error rolls it back.
		if first {
			return Work{}, fmt.Errorf("job %s is queued and has no frame to claim", record.JobID)
		}
		return Work{}, nil
	}
	var scene quote.Scene
	if !found.Open {
		if scene, _, err = PricedScene(ctx, tx, record.JobID); err != nil {
			return Work{}, err
		}
	}
	if first {
		tx.AfterCommit(func() {
			f.Log.Info("job rendering", "job_id", record.JobID, "workspace_id", record.WorkspaceID, "worker_id", holder)
		})
	}
	waiting, err := dispatch.RecordChoice(ctx, tx, job.ForDispatch(record), found, int64(len(leases)))
	return Work{Job: record, Leases: leases, Waiting: int(waiting), Plays: found.Plays, Scene: scene.Name}, err
}
