package identity

import (
	"context"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
)

// SetProofPages publishes or hides the proof pages of a workspace's receipts, those of
// completed jobs too (decisions 8). Receipts stay valid and stay in the log either way.
// Repeating it changes nothing. Error: workspace_not_found.
func SetProofPages(ctx context.Context, tx *db.Tx, workspaceID string, show bool) error {
	value := int64(0)
	if show {
		value = 1
	}
	row, err := tx.WorkspaceProofPage(ctx, query.WorkspaceProofPageParams{WorkspaceID: workspaceID, ProofPage: value})
	n, err := workspaces.Changed(ctx, tx, row, err)
	if err != nil {
		return fmt.Errorf("change the proof pages of %s: %w", workspaceID, err)
	}
	if n == 0 {
		return fault.New(fault.WorkspaceNotFound, "There is no workspace %s.", workspaceID)
	}
	return nil
}
