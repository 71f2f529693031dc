package oauth

import (
	"context"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/rowsum"
)

// The rows of this package carry checksums: which program has which key cannot be
// derived from anything else.
var (
	requests = rowsum.Table[query.OauthRequest]{Name: "oauth_request", Key: 1, Later: []string{"PersonID"}}
	grants   = rowsum.Table[query.OauthGrant]{Name: "oauth_grant", Key: 1}
)

// Sums lists the tables of this package whose rows carry checksums.
var Sums = rowsum.Tables{requests, grants}

// Audit reports rows that are not as they were written. An error means that the audit did
// not finish.
func Audit(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) error {
	if err := requests.Audit(ctx, tx, breach, nil); err != nil {
		return err
	}
	return grants.Audit(ctx, tx, breach, nil)
}

// Erase removes what programs asked of a workspace, and their tokens. Their keys are package
// identity's. Repeating it changes nothing.
func Erase(ctx context.Context, tx *db.Tx, workspaceID string) error {
	if err := tx.OauthGrantsErase(ctx, workspaceID); err != nil {
		return fmt.Errorf("erase tokens: %w", err)
	}
	if err := tx.OauthRequestsErase(ctx, workspaceID); err != nil {
		return fmt.Errorf("erase requests of programs: %w", err)
	}
	return nil
}
