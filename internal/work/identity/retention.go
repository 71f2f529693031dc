package identity

import (
	"context"
	"fmt"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
)

// MostArtifactDays bounds how long the artifacts of a workspace are kept.
const MostArtifactDays = 365

// SetArtifactDays sets for how many days the artifacts of a workspace's jobs are kept that
// complete from now on; 0 means as the service's setting. Errors: invalid_request,
// workspace_not_found.
func SetArtifactDays(ctx context.Context, tx *db.Tx, workspaceID string, days int) error {
	if days < 0 || days > MostArtifactDays {
		return fault.Field("days", "is %d; it must be 1 to %d, or 0 for the setting of the service", days, MostArtifactDays)
	}
	row, err := tx.WorkspaceArtifactDays(ctx, query.WorkspaceArtifactDaysParams{WorkspaceID: workspaceID, ArtifactDays: int64(days)})
	n, err := workspaces.Changed(ctx, tx, row, err)
	if err != nil {
		return fmt.Errorf("change how long artifacts of %s are kept: %w", workspaceID, err)
	}
	if n == 0 {
		return fault.New(fault.WorkspaceNotFound, "There is no workspace %s.", workspaceID)
	}
	return nil
}

// ArtifactLife is how long an artifact of a workspace is kept from now on; usual where the
// workspace has no setting of its own.
func ArtifactLife(ctx context.Context, tx *db.Tx, workspaceID string, usual time.Duration) (time.Duration, error) {
	workspace, err := tx.WorkspaceGet(ctx, workspaceID)
	if err != nil {
		return 0, fmt.Errorf("read workspace %s: %w", workspaceID, err)
	}
	if workspace.ArtifactDays == 0 {
		return usual, nil
	}
	return time.Duration(workspace.ArtifactDays) * 24 * time.Hour, nil
}
