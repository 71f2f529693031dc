package preview

import (
	"context"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/rowsum"
)

// Previews carry checksums, over the whole row.
var previewRows = rowsum.Table[query.Preview]{
	Name: "preview", Key: 1,
	After: func(ctx context.Context, tx *db.Tx, last query.Preview) ([]query.Preview, error) {
		return tx.PreviewAfter(ctx, last.PreviewID)
	},
	Store: func(ctx context.Context, tx *db.Tx, r query.Preview, sum string) error {
		return tx.PreviewSum(ctx, query.PreviewSumParams{RowSum: sum, PreviewID: r.PreviewID})
	},
}

// Sums lists the tables of this package whose rows carry checksums.
var Sums = rowsum.Tables{previewRows}
