package lease

import (
	"context"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/rowsum"
)

// Dead letters carry checksums. Leases carry none: they change all the time, and follow
// from what they are for.
var deadLetterRows = rowsum.Table[query.DeadLetter]{
	Name: "dead_letter",
	After: func(ctx context.Context, tx *db.Tx, last query.DeadLetter) ([]query.DeadLetter, error) {
		return tx.DeadLetterAfter(ctx, last.LeaseID)
	},
	Fields: func(r query.DeadLetter) []any {
		return []any{r.LeaseID, r.Queue, r.Subject, r.Item, r.Attempt, r.Failures, r.LastCode, r.LastError, r.DiedAt}
	},
	Kept: func(r query.DeadLetter) string { return r.RowSum },
	ID:   func(r query.DeadLetter) string { return r.LeaseID },
	Store: func(ctx context.Context, tx *db.Tx, r query.DeadLetter, sum string) error {
		return tx.DeadLetterSum(ctx, query.DeadLetterSumParams{RowSum: sum, LeaseID: r.LeaseID})
	},
}

// FillSums writes the checksums of rows that an older version wrote. A service calls it
// before it serves.
func FillSums(ctx context.Context, d *db.DB) error {
	return deadLetterRows.Fill(ctx, d)
}
