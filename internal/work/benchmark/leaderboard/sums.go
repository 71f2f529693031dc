package leaderboard

import (
	"context"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/rowsum"
)

// What workers sent carries checksums, over the whole row: why a receipt was rejected and
// which key a node has signed with follow from nothing else. What is shown and counted
// carries none: it follows from the signed receipts.
var (
	receiptRows = rowsum.Table[query.BenchmarkReceipt]{
		Name: "benchmark_receipt",
		After: func(ctx context.Context, tx *db.Tx, last query.BenchmarkReceipt) ([]query.BenchmarkReceipt, error) {
			return tx.BenchmarkReceiptAfter(ctx, last.ResultID)
		},
		Fields: func(r query.BenchmarkReceipt) []any {
			return []any{r.ResultID, r.PayloadSha256, r.NodeKeyID, r.WorkerID, r.WorkerEnvelope, r.Status, r.Reason, r.Detail, r.ReceiptID, r.Envelope, r.CreatedAt}
		},
		Kept: func(r query.BenchmarkReceipt) string { return r.RowSum },
		ID:   func(r query.BenchmarkReceipt) string { return r.ResultID },
		Store: func(ctx context.Context, tx *db.Tx, r query.BenchmarkReceipt, sum string) error {
			return tx.BenchmarkReceiptSum(ctx, query.BenchmarkReceiptSumParams{RowSum: sum, ResultID: r.ResultID})
		},
	}
	nodeSigningKeyRows = rowsum.Table[query.NodeSigningKey]{
		Name: "node_signing_key",
		After: func(ctx context.Context, tx *db.Tx, last query.NodeSigningKey) ([]query.NodeSigningKey, error) {
			return tx.NodeSigningKeyAfter(ctx, last.KeyID)
		},
		Fields: func(r query.NodeSigningKey) []any { return []any{r.KeyID, r.PublicPem, r.BoundAt} },
		Kept:   func(r query.NodeSigningKey) string { return r.RowSum },
		ID:     func(r query.NodeSigningKey) string { return r.KeyID },
		Store: func(ctx context.Context, tx *db.Tx, r query.NodeSigningKey, sum string) error {
			return tx.NodeSigningKeySum(ctx, query.NodeSigningKeySumParams{RowSum: sum, KeyID: r.KeyID})
		},
	}
)

// FillSums writes the checksums of rows that an older version wrote. A service calls it
// before it serves.
func FillSums(ctx context.Context, d *db.DB) error {
	for _, fill := range []func(context.Context, *db.DB) error{receiptRows.Fill, nodeSigningKeyRows.Fill} {
		if err := fill(ctx, d); err != nil {
			return err
		}
	}
	return nil
}
