package quote

import (
	"context"
	"fmt"

	"svc.example/internal/ground/db"
)

// Erase empties the warnings of a workspace's quotes, which name objects and files of its
// scenes. Prices stay. Repeating it changes nothing.
func Erase(ctx context.Context, tx *db.Tx, workspaceID string) error {
	rows, err := tx.QuotesErase(ctx, workspaceID)
	if err != nil {
		return fmt.Errorf("erase the warnings of quotes: %w", err)
	}
	for _, row := range rows {
		if err := quoteRows.Renew(ctx, tx, row); err != nil {
			return err
		}
	}
	return nil
}
