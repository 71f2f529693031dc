package split

import (
	"context"
	"fmt"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/framecheck"
	"svc.example/internal/work/job"
)

// mostTended bounds the frames that one round of Tend looks after.
const mostTended = 1000

// Tend looks after all cuts. It keeps the leases of their frames, fails strips that a worker has
// had for too long despite its heartbeats, gives up cuts that no worker can continue, and drops
// those of jobs that have ended. Several processes may call it at once.
func (c *Cuts) Tend(ctx context.Context) error {
	var cuts []query.StripFramesRow
	var late []query.Lease
	err := c.DB.Read(ctx, func(tx *db.Tx) (err error) {
		if cuts, err = tx.StripFrames(ctx, mostTended); err != nil {
			return err
		}
		late, err = tx.StripsHeldLong(ctx, tx.Now-(c.FrameTime+contract.TransferTime).Microseconds())
		return err
	})
	if err != nil {
		return fmt.Errorf("list the frames that are cut: %w", err)
	}
	for _, l := range late {
		failure := framecheck.Failure{Code: fault.FrameTimeExceeded, Message: fmt.Sprintf("The worker did not deliver the strip within %s.", (c.FrameTime + contract.TransferTime).Round(time.Second))}
		err := c.Fail(ctx, lease.Ref{ID: l.LeaseID, Holder: l.Holder, Attempt: l.Attempt}, failure)
		if err != nil && !fault.Is(err, fault.LeaseLost) { // lost: it was delivered meanwhile
			return err
		}
	}
	for _, cut := range cuts {
		if err := c.DB.Write(ctx, func(tx *db.Tx) error { return c.tend(ctx, tx, cut.JobID, cut.Frame) }); err != nil {
			return err
		}
	}
	return nil
}

// tend looks after one cut.
func (c *Cuts) tend(ctx context.Context, tx *db.Tx, jobID string, frame int64) error {
	record, err := job.Lock(ctx, tx, jobID)
	if err != nil {
		return err
	}
	rows, err := rowsOf(ctx, tx, jobID, frame)
	if err != nil || len(rows) == 0 || rows[0].IsOpen == 0 {
		return err
	}
	if job.Status(record.Status) != job.Rendering {
		return c.drop(ctx, tx, jobID, frame, rows)
	}
	held, err := tx.LeaseGet(ctx, frameLease(jobID, frame))
	if db.IsNotFound(err) {
		return c.drop(ctx, tx, jobID, frame, rows)
	}
	if err != nil {
		return fmt.Errorf("read lease: %w", err)
	}
	if held.Holder != holder {
		return nil // it waits for a worker, or one has it
	}
	stuck, err := c.stuck(ctx, tx, rows)
	if err != nil {
		return err
	}
	if stuck {
		return c.giveUp(ctx, tx, record, frame, rows, fault.WorkerLost, "No worker is there for its strips.")
	}
	return c.beatFrame(ctx, tx, jobID, frame, rows)
}

// stuck reports whether no worker is there that could render a strip that waits, or finish the
// frame.
func (c *Cuts) stuck(ctx context.Context, tx *db.Tx, rows []query.Strip) (bool, error) {
	var waiting []string // whom the strips that wait avoid
	for _, r := range rows {
		l, err := tx.LeaseGet(ctx, LeaseID(r.JobID, int(r.Frame), int(r.Part)))
		switch {
		case err == nil && l.Holder == "" && l.Attempt >= mostAttempts: // nobody is to blame, and nothing comes of it
			return true, nil
		case err == nil && l.Holder == "":
			waiting = append(waiting, r.Avoid)
		case err != nil && !db.IsNotFound(err):
			return false, fmt.Errorf("read lease: %w", err)
		}
	}
	if complete(rows) {
		waiting = []string{""}
	}
	for _, avoid := range waiting {
		n, err := workersFor(ctx, tx, rows[0].JobID, rows[0].Class, avoid)
		if err != nil || n.Online == 0 {
			return err == nil, err
		}
	}
	return false, nil
}
