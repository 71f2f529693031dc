package frames

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
)

// TakeBackOverdue ends the attempts of workers that hold a frame for longer than a frame may
// take, including the time to download its files. Heartbeats do not extend this: a worker
// that sends nothing else would keep all frames forever. The time of a frame that waits on
// its worker begins with the frame of the same job that the worker delivered last. Several
// processes may call it at once.
func (f *Frames) TakeBackOverdue(ctx context.Context) error {
	var overdue []query.Lease
	err := f.DB.Read(ctx, func(tx *db.Tx) (err error) {
		before := tx.Now - (f.FrameTime + contract.TransferTime).Microseconds()
		overdue, err = tx.FramesOverdue(ctx, query.FramesOverdueParams{Before: before, PlaysBefore: before - f.PlayTime.Microseconds()})
		return err
	})
	if err != nil {
		return fmt.Errorf("find overdue frames: %w", err)
	}
	for _, row := range overdue {
		err := f.DB.Write(ctx, func(tx *db.Tx) error {
			held := tx.Time().Sub(db.Time(row.DueAt)).Round(time.Second)
			failure := framecheck.Failure{Code: fault.FrameTimeExceeded, Final: true, Message: fmt.Sprintf("The worker did not deliver the frame within %s.", held)}
			err := f.failFrame(ctx, tx, lease.Ref{ID: row.LeaseID, Holder: row.Holder, Attempt: row.Attempt}, failure)
			if err != nil {
				return err
			}
			return f.Workers.RecordFault(ctx, tx, row.Holder)
		})
		if err != nil && !fault.Is(err, fault.LeaseLost) { // lost: it was delivered meanwhile
			return fmt.Errorf("take back %s: %w", row.LeaseID, err)
		}
	}
	return nil
}
