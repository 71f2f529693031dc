package idempotency

import (
	"context"
	"fmt"

	"svc.example/internal/ground/db"
)

// Erase forgets all answers that are kept for a workspace.
func Erase(ctx context.Context, tx *db.Tx, workspaceID string) error {
	if err := tx.IdempotencyErase(ctx, workspaceID); err != nil {
		return fmt.Errorf("erase kept answers: %w", err)
	}
	return nil
}
