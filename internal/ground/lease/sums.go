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
	Name: "dead_letter", Key: 1,
	After: func(ctx context.Context, tx *db.Tx, last query.DeadLetter) ([]query.DeadLetter, error) {
		return tx.DeadLetterAfter(ctx, last.LeaseID)
	},
	Store: func(ctx context.Context, tx *db.Tx, r query.DeadLetter, sum string) error {
		return tx.DeadLetterSum(ctx, query.DeadLetterSumParams{RowSum: sum, LeaseID: r.LeaseID})
	},
}

// Sums lists the tables of this package whose rows carry checksums.
var Sums = rowsum.Tables{deadLetterRows}
