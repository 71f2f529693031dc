package damage_test

import (
	"context"
	"errors"
	"strings"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/lease"
	"svc.example/internal/ground/rowsum"
	"svc.example/internal/work/dispatch"
)

// cut makes a frame that a worker holds one of two strips, of which the upper one is in.
func (s *store) cut(c claimed) {
	s.Helper()
	table := rowsum.Table[query.Strip]{Name: "strip", Key: 3}
	s.write(func(ctx context.Context, tx *db.Tx) error {
		err := lease.Release(ctx, tx, lease.Ref{ID: c.LeaseID, Holder: s.cpu.id, Attempt: int64(c.Attempt)}, dispatch.FrameQueue)
		if err == nil {
			_, err = lease.ClaimIDs(ctx, tx, []string{c.LeaseID}, dispatch.ServiceHolder, time.Hour)
		}
		for part := range int64(2) {
			row := query.StripAddParams{
				JobID: c.jobID, Frame: int64(c.Frame), Part: part, Parts: 2, RowFrom: 135 * part, RowTo: 135 * (part + 1), Height: 270, Overlap: 1, Class: "CPU", IsOpen: 1, CreatedAt: tx.Now,
			}
			row.RowSum = table.Of(row)
			err = errors.Join(err, tx.StripAdd(ctx, row))
		}
		if err != nil {
			return err
		}
		upper, err := tx.StripDelivered(ctx, query.StripDeliveredParams{
			JobID: c.jobID, Frame: int64(c.Frame), WorkerID: s.cpu.id, KeyID: s.cpu.keyID, Attempt: 1, BlobKey: "frames/" + c.jobID + "/upper", Sha256: strings.Repeat("a", 64),
			SizeBytes: 1000, SeamBelow: strings.Repeat("b", 64), RenderUs: 1000, DeliveredAt: tx.Now,
		})
		return errors.Join(err, table.Renew(ctx, tx, upper), lease.AddItems(ctx, tx, dispatch.StripQueue, c.jobID, []int64{int64(c.Frame)*16 + 1}))
	})
}
