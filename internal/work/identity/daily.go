package identity

import (
	"context"
	"fmt"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
)

// SetDailyCents sets what a workspace may spend in a calendar day (UTC) from now on; 0 means
// no limit. The caller checks the amount. Error: workspace_not_found.
func SetDailyCents(ctx context.Context, tx *db.Tx, workspaceID string, cents int64) error {
	row, err := tx.WorkspaceDailyCents(ctx, query.WorkspaceDailyCentsParams{WorkspaceID: workspaceID, DailyCents: cents})
	n, err := workspaces.Changed(ctx, tx, row, err)
	if err != nil {
		return fmt.Errorf("change the daily limit of %s: %w", workspaceID, err)
	}
	if n == 0 {
		return fault.New(fault.WorkspaceNotFound, "There is no workspace %s.", workspaceID)
	}
	return nil
}

// Day is the beginning of the calendar day in UTC: the daily limit counts from it.
func Day(now time.Time) time.Time { return now.UTC().Truncate(24 * time.Hour) }
