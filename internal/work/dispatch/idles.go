package dispatch

import (
	"context"
	"fmt"

	"svc.example/internal/ground/db"
)

// Idles reports whether a worker may take unpaid work: it is not suspended, and no frame
// waits that Next would give it.
func Idles(ctx context.Context, tx *db.Tx, holder string) (bool, error) {
	worker, err := tx.WorkerGet(ctx, holder)
	if err != nil {
		return false, fmt.Errorf("read worker: %w", err)
	}
	if worker.SuspendedUntil > tx.Now {
		return false, nil
	}
	c, err := Next(ctx, tx, holder, OpenJob{})
	return c.JobID == "" && c.LeaseID == "", err
}
