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
	Name: "signing_key",
	After: func(ctx context.Context, tx *db.Tx, last query.SigningKey) ([]query.SigningKey, error) {
		return tx.SigningKeyAfter(ctx, last.KeyID)
	},
	Fields: func(r query.SigningKey) []any { return []any{r.KeyID, r.PublicPem, r.ValidFrom, r.ValidTo} },
	Kept:   func(r query.SigningKey) string { return r.RowSum },
	ID:     func(r query.SigningKey) string { return r.KeyID },
	Store: func(ctx context.Context, tx *db.Tx, r query.SigningKey, sum string) error {
		return tx.SigningKeySum(ctx, query.SigningKeySumParams{RowSum: sum, KeyID: r.KeyID})
	},
}

// FillSums writes the checksums of rows that an older version wrote. A service calls it
// before it serves.
func FillSums(ctx context.Context, d *db.DB) error {
	return keyRows.Fill(ctx, d)
}
