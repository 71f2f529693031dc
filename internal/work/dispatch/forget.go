package dispatch

import (
	"context"
	"fmt"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
)

// ForgetWorkers deletes workers that were not seen for keep, and returns how many. It
// leaves those that hold a frame or have submitted a benchmark. A worker that comes back
// registers again.
func ForgetWorkers(ctx context.Context, d *db.DB, keep time.Duration) (int64, error) {
	n, err := d.WritePages(ctx, func(tx *db.Tx, page int64) (int64, error) {
		return tx.WorkersForget(ctx, query.WorkersForgetParams{Before: tx.Now - keep.Microseconds(), Max: page})
	})
	if err != nil {
		return n, fmt.Errorf("forget workers: %w", err)
	}
	return n, nil
}

// ForgetFailedAttempts deletes the failed attempts of jobs that ended longer ago than
// keep, and returns how many. No job's end or money depends on them any more.
func ForgetFailedAttempts(ctx context.Context, d *db.DB, keep time.Duration) (int64, error) {
	n, err := d.WritePages(ctx, func(tx *db.Tx, page int64) (int64, error) {
		return tx.FailedAttemptsForget(ctx, query.FailedAttemptsForgetParams{Before: tx.Now - keep.Microseconds(), Max: page})
	})
	if err != nil {
		return n, fmt.Errorf("forget failed attempts: %w", err)
	}
	return n, nil
}
