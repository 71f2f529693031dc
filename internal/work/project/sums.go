package project

import (
	"context"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/rowsum"
)

// Content carries a checksum: where its bytes are follows from nothing else. Projects follow
// from their uploads.
var contentRows = rowsum.Table[query.Content]{
	Name: "content", Key: 2,
	After: func(ctx context.Context, tx *db.Tx, last query.Content) ([]query.Content, error) {
		return tx.AuditContent(ctx, query.AuditContentParams{WorkspaceID: last.WorkspaceID, Sha256: last.Sha256})
	},
	Store: func(ctx context.Context, tx *db.Tx, r query.Content, sum string) error {
		return tx.ContentSum(ctx, query.ContentSumParams{RowSum: sum, WorkspaceID: r.WorkspaceID, Sha256: r.Sha256})
	},
}

// Sums lists the tables of this package whose rows carry checksums.
var Sums = rowsum.Tables{contentRows}
