package frames

import (
	"context"
	"fmt"

	"svc.example/internal/ground/db"
)

// Erase empties the logs of a workspace's frames. Their rows stay, with numbers, times and
// hashes. Repeating it changes nothing.
func Erase(ctx context.Context, tx *db.Tx, workspaceID string) error {
	if err := tx.FrameLogsErase(ctx, workspaceID); err != nil {
		return fmt.Errorf("erase the logs of frames: %w", err)
	}
	if err := tx.FrameOutputsErase(ctx, workspaceID); err != nil {
		return fmt.Errorf("erase the outputs of frames: %w", err)
	}
	return nil
}
