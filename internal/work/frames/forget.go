package frames

import (
	"context"
	"fmt"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
)

// ForgetLogs empties the logs of the frames of jobs that ended longer ago than keep, and
// returns how many. The frames stay: receipts name them. The ZIP has the logs too.
func ForgetLogs(ctx context.Context, d *db.DB, keep time.Duration) (int64, error) {
	n, err := d.WritePages(ctx, func(tx *db.Tx, page int64) (int64, error) {
		return tx.FrameLogsForget(ctx, query.FrameLogsForgetParams{Before: tx.Now - keep.Microseconds(), Max: page})
	})
	if err != nil {
		return n, fmt.Errorf("forget the logs of frames: %w", err)
	}
	return n, nil
}
