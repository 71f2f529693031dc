package quote

import (
	"context"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/rowsum"
)

// A quote carries a checksum. It leaves out who accepted it: the audit holds that against
// the job.
var quoteRows = rowsum.Table[query.Quote]{
	Name: "quote", Key: 1, Except: []string{"AcceptedAt", "JobID"},
	After: func(ctx context.Context, tx *db.Tx, last query.Quote) ([]query.Quote, error) {
		return tx.QuoteAfter(ctx, last.QuoteID)
	},
	Store: func(ctx context.Context, tx *db.Tx, r query.Quote, sum string) error {
		return tx.QuoteSum(ctx, query.QuoteSumParams{RowSum: sum, QuoteID: r.QuoteID})
	},
}

// Sums lists the tables of this package whose rows carry checksums.
var Sums = rowsum.Tables{quoteRows}
