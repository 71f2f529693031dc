package idempotency

import (
	"context"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/rowsum"
)

// A key and its answer carry a checksum. It leaves out when a hold lapses, which changes
// while the request is worked on and means nothing afterwards.
var keyRows = rowsum.Table[query.Idempotency]{
	Name: "idempotency", Key: 3, Except: []string{"LapsesAt"},
	After: func(ctx context.Context, tx *db.Tx, last query.Idempotency) ([]query.Idempotency, error) {
		return tx.IdempotencyAfter(ctx, query.IdempotencyAfterParams{WorkspaceID: last.WorkspaceID, Route: last.Route, Key: last.Key})
	},
	Store: func(ctx context.Context, tx *db.Tx, r query.Idempotency, sum string) error {
		return tx.IdempotencySum(ctx, query.IdempotencySumParams{RowSum: sum, WorkspaceID: r.WorkspaceID, Route: r.Route, Key: r.Key})
	},
}

// Sums lists the tables of this package whose rows carry checksums.
var Sums = rowsum.Tables{keyRows}
