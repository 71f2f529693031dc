package movie

import (
	"context"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/lease"
)

// Erase removes the orders of a workspace. The movies go with its jobs' overviews.
func Erase(ctx context.Context, tx *db.Tx, workspaceID string) error {
	jobs, err := tx.MovieJobs(ctx, workspaceID)
	if err != nil {
		return fmt.Errorf("list orders of movies: %w", err)
	}
	for _, jobID := range jobs {
		if err := lease.Erase(ctx, tx, Queue, jobID); err != nil {
			return err
		}
	}
	return nil
}
