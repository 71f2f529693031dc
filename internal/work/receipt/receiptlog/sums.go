package receiptlog

import (
	"context"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/rowsum"
)

// The log's name carries a checksum. The rest of the row follows from the leaves.
var nameRows = rowsum.Table[query.ReceiptLog]{
	Name: "receipt_log", Key: 1, Except: []string{"Size", "Peaks"},
	After: func(ctx context.Context, tx *db.Tx, last query.ReceiptLog) ([]query.ReceiptLog, error) {
		return tx.LogAfter(ctx, last.LogID)
	},
	Store: func(ctx context.Context, tx *db.Tx, r query.ReceiptLog, sum string) error {
		return tx.LogSum(ctx, query.LogSumParams{RowSum: sum, LogID: r.LogID})
	},
}

// Sums lists the tables of this package whose rows carry checksums.
var Sums = rowsum.Tables{nameRows}
