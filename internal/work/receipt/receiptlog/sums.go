package receiptlog

import (
	"context"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/rowsum"
)

// The log's name carries a checksum. The rest of the row follows from the leaves.
var nameRows = rowsum.Table[query.ReceiptLog]{
	Name: "receipt_log",
	After: func(ctx context.Context, tx *db.Tx, last query.ReceiptLog) ([]query.ReceiptLog, error) {
		return tx.LogAfter(ctx, last.LogID)
	},
	Fields: func(r query.ReceiptLog) []any { return []any{r.LogID, r.Origin} },
	Kept:   func(r query.ReceiptLog) string { return r.RowSum },
	ID:     func(r query.ReceiptLog) string { return r.Origin },
	Store: func(ctx context.Context, tx *db.Tx, r query.ReceiptLog, sum string) error {
		return tx.LogSum(ctx, query.LogSumParams{RowSum: sum, LogID: r.LogID})
	},
}

// FillSums writes the checksums of rows that an older version wrote. A service calls it
// before it serves.
func FillSums(ctx context.Context, d *db.DB) error {
	return nameRows.Fill(ctx, d)
}
