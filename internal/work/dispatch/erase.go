package dispatch

import (
	"context"
	"fmt"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
)

// Erase removes the texts of failed attempts of a workspace's jobs: messages and
// Blender's output, which quote names. Repeating it changes nothing.
func Erase(ctx context.Context, tx *db.Tx, workspaceID string) error {
	rows, err := tx.FailedAttemptsErase(ctx, query.FailedAttemptsEraseParams{Message: contract.Erased, WorkspaceID: workspaceID})
	if err != nil {
		return fmt.Errorf("erase failed attempts: %w", err)
	}
	for _, row := range rows {
		if err := failureRows.Renew(ctx, tx, row); err != nil {
			return err
		}
	}
	return nil
}
