package intake

import (
	"context"
	"fmt"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/project"
)

// Erase removes the uploads of a workspace, with their names and what inspect read, those
// that are awaited or being fetched, and parts of projects to come. It returns the keys of the blobs that go, to be
// deleted after the commit. It locks each upload, so afterwards no job can start. The
// rows stay for the jobs that name them, with size and hash. Repeating it is safe.
func Erase(ctx context.Context, tx *db.Tx, workspaceID string) (blobKeys []string, err error) {
	awaited, err := tx.AwaitedErase(ctx, workspaceID)
	if err != nil {
		return nil, fmt.Errorf("erase awaited uploads: %w", err)
	}
	for _, uploadID := range awaited {
		if err := lease.Erase(ctx, tx, FetchQueue, uploadID); err != nil {
			return nil, err
		}
	}
	uploads, err := tx.UploadsOf(ctx, workspaceID)
	if err != nil {
		return nil, fmt.Errorf("list uploads: %w", err)
	}
	for _, uploadID := range uploads {
		unused, err := remove(ctx, tx, uploadID)
		if err != nil {
			return nil, err
		}
		blobKeys = append(blobKeys, unused...)
		row, err := tx.UploadErase(ctx, query.UploadEraseParams{Filename: contract.Erased, UploadID: uploadID})
		if _, err := uploadRows.Changed(ctx, tx, row, err); err != nil {
			return nil, fmt.Errorf("erase upload %s: %w", uploadID, err)
		}
	}
	loose, err := project.EraseLoose(ctx, tx, workspaceID)
	return append(blobKeys, loose...), err
}
