package signing

import (
	"context"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/rowsum"
)

// Published keys carry checksums: from when and until when a key is valid follows from
// nothing else.
var keyRows = rowsum.Table[query.SigningKey]{
	Name: "signing_key", Key: 1,
	After: func(ctx context.Context, tx *db.Tx, last query.SigningKey) ([]query.SigningKey, error) {
		return tx.SigningKeyAfter(ctx, last.KeyID)
	},
	Store: func(ctx context.Context, tx *db.Tx, r query.SigningKey, sum string) error {
		return tx.SigningKeySum(ctx, query.SigningKeySumParams{RowSum: sum, KeyID: r.KeyID})
	},
}

// Sums lists the tables of this package whose rows carry checksums.
var Sums = rowsum.Tables{keyRows}
