package intake

import (
	"context"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/rowsum"
)

// What was received and what is awaited carry checksums, over the whole row.
var (
	uploadRows = rowsum.Table[query.Upload]{
		Name: "upload", Key: 1,
		After: func(ctx context.Context, tx *db.Tx, last query.Upload) ([]query.Upload, error) {
			return tx.UploadAfter(ctx, last.UploadID)
		},
		Store: func(ctx context.Context, tx *db.Tx, r query.Upload, sum string) error {
			return tx.UploadSum(ctx, query.UploadSumParams{RowSum: sum, UploadID: r.UploadID})
		},
	}
	awaitedRows = rowsum.Table[query.AwaitedUpload]{
		Name: "awaited_upload", Key: 1, Later: []string{"TermsVersion"},
		After: func(ctx context.Context, tx *db.Tx, last query.AwaitedUpload) ([]query.AwaitedUpload, error) {
			return tx.AwaitedAfter(ctx, last.UploadID)
		},
		Store: func(ctx context.Context, tx *db.Tx, r query.AwaitedUpload, sum string) error {
			return tx.AwaitedSum(ctx, query.AwaitedSumParams{RowSum: sum, UploadID: r.UploadID})
		},
	}
)

// Sums lists the tables of this package whose rows carry checksums.
var Sums = rowsum.Tables{uploadRows, awaitedRows}
