package identity

import (
	"context"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/workertags"
)

// MostFramesAtOnce bounds the limit of frames of a workspace that are rendered at once.
const MostFramesAtOnce = 100_000

// SetTags keeps which tags workers must have to render for a workspace. Package dispatch acts
// on it. Error: workspace_not_found.
func SetTags(ctx context.Context, tx *db.Tx, workspaceID string, required workertags.Set) error {
	row, err := tx.WorkspaceTags(ctx, query.WorkspaceTagsParams{WorkspaceID: workspaceID, Tags: required.Text()})
	return changed(ctx, tx, "tags", workspaceID, row, err)
}

// SetFramesAtOnce keeps how many frames of a workspace are rendered at once; 0 means no limit.
// Package dispatch acts on it. The caller checks the number. Error: workspace_not_found.
func SetFramesAtOnce(ctx context.Context, tx *db.Tx, workspaceID string, most int64) error {
	row, err := tx.WorkspaceFramesAtOnce(ctx, query.WorkspaceFramesAtOnceParams{WorkspaceID: workspaceID, FramesAtOnce: most})
	return changed(ctx, tx, "frames at once", workspaceID, row, err)
}

// changed renews the sum of a workspace whose row a statement has changed. Error:
// workspace_not_found.
func changed(ctx context.Context, tx *db.Tx, what, workspaceID string, row query.Workspace, err error) error {
	n, err := workspaces.Changed(ctx, tx, row, err)
	if err != nil {
		return fmt.Errorf("change the %s of %s: %w", what, workspaceID, err)
	}
	if n == 0 {
		return fault.New(fault.WorkspaceNotFound, "There is no workspace %s.", workspaceID)
	}
	return nil
}
