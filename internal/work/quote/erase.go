package quote

import (
	"context"
	"fmt"

	"svc.example/internal/ground/db"
)

// Erase empties the warnings, settings and scenes of a workspace's quotes, which name objects
// and files. Prices stay. Repeating it changes nothing.
func Erase(ctx context.Context, tx *db.Tx, workspaceID string) error {
	rows, err := tx.QuotesErase(ctx, workspaceID)
	if err != nil {
		return fmt.Errorf("erase the warnings of quotes: %w", err)
	}
	return renew(ctx, tx, rows)
}
