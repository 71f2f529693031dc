package leaderboard

import (
	"context"

	"svc.example/internal/ground/db"
)

// CountAgain counts a score of a group that no result has.
func CountAgain(ctx context.Context, tx *db.Tx, group int64) error {
	return tally(ctx, tx, group, byScore, 9_000_000, true)
}
