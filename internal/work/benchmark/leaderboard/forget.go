package leaderboard

import (
	"context"
	"fmt"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
)

// ForgetRejected deletes receipts that were rejected longer ago than keep, and returns
// how many. One that is sent again is judged again. Accepted ones are in the log, for
// ever.
func ForgetRejected(ctx context.Context, d *db.DB, keep time.Duration) (int64, error) {
	n, err := d.WritePages(ctx, func(tx *db.Tx, page int64) (int64, error) {
		return tx.BenchmarkRejectedForget(ctx, query.BenchmarkRejectedForgetParams{Before: tx.Now - keep.Microseconds(), Max: page})
	})
	if err != nil {
		return n, fmt.Errorf("forget rejected receipts: %w", err)
	}
	return n, nil
}

// ForgetChallenges deletes challenges without a kept picture that were drawn longer ago than
// keep, and returns how many.
func ForgetChallenges(ctx context.Context, d *db.DB, keep time.Duration) (int64, error) {
	n, err := d.WritePages(ctx, func(tx *db.Tx, page int64) (int64, error) {
		return tx.ChallengesForget(ctx, query.ChallengesForgetParams{Before: tx.Now - keep.Microseconds(), Max: page})
	})
	if err != nil {
		return n, fmt.Errorf("forget challenges: %w", err)
	}
	return n, nil
}
