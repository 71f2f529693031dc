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
	Name: "idempotency",
	After: func(ctx context.Context, tx *db.Tx, last query.Idempotency) ([]query.Idempotency, error) {
		return tx.IdempotencyAfter(ctx, query.IdempotencyAfterParams{WorkspaceID: last.WorkspaceID, Route: last.Route, Key: last.Key})
	},
	Fields: func(r query.Idempotency) []any {
		return []any{r.WorkspaceID, r.Route, r.Key, r.Fingerprint, r.Holder, r.Status, r.Body, r.ExpiresAt}
	},
	Kept: func(r query.Idempotency) string { return r.RowSum },
	ID:   func(r query.Idempotency) string { return r.WorkspaceID + " " + r.Route },
	Store: func(ctx context.Context, tx *db.Tx, r query.Idempotency, sum string) error {
		return tx.IdempotencySum(ctx, query.IdempotencySumParams{RowSum: sum, WorkspaceID: r.WorkspaceID, Route: r.Route, Key: r.Key})
	},
}

// FillSums writes the checksums of rows that an older version wrote. A service calls it
// before it serves.
func FillSums(ctx context.Context, d *db.DB) error {
	return keyRows.Fill(ctx, d)
}
