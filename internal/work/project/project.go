// Package project keeps what a job renders: the files of an upload and the bytes
// that they are made of. A lone .blend is a project of one file.
//
// What always holds: an upload has a project until it is removed; a project never
// changes; its content is on the disk before the project is in the database; the
// same bytes are kept once in a workspace, and no workspace shares them with
// another; content that no project uses is removed with its last project.
//
// Receiving bytes and judging scenes is left to intake, rendering them to worker.
// Start reading at Manifest and Create.
package project

import (
	"context"
	"errors"
	"fmt"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
)

// Content is bytes that lie in the blob store under BlobKey.
type Content struct {
	SHA256    string // lower-case hex
	SizeBytes int64
	BlobKey   string
}

// Keep gives a workspace content. It reports false when the workspace has the same
// bytes already: then those stay, and the caller removes its own blob once tx has
// committed. The content stays locked until tx ends; Create uses it before.
func Keep(ctx context.Context, tx *db.Tx, workspaceID string, c Content) (kept bool, err error) {
	key, err := tx.ContentKeep(ctx, query.ContentKeepParams{
		WorkspaceID: workspaceID, Sha256: c.SHA256, SizeBytes: c.SizeBytes, BlobKey: c.BlobKey, CreatedAt: tx.Now,
	})
	if err != nil {
		return false, fmt.Errorf("keep content: %w", err)
	}
	return key == c.BlobKey, nil
}

// Create makes the project of an upload. All its parts have been kept.
func Create(ctx context.Context, tx *db.Tx, workspaceID, uploadID string, m Manifest) error {
	if err := m.Check(); err != nil {
		return fmt.Errorf("make a project: %w", err)
	}
	text, err := m.encode()
	if err != nil {
		return err
	}
	err = tx.ProjectCreate(ctx, query.ProjectCreateParams{UploadID: uploadID, WorkspaceID: workspaceID, Manifest: text, CreatedAt: tx.Now})
	if err != nil {
		return fmt.Errorf("make a project: %w", err)
	}
	for _, sum := range m.parts() {
		if err := tx.ProjectUse(ctx, query.ProjectUseParams{UploadID: uploadID, WorkspaceID: workspaceID, Sha256: sum}); err != nil {
			return fmt.Errorf("make a project of the content %s: %w", sum, err)
		}
	}
	return nil
}

// Remove ends the project of an upload. It returns the keys of the blobs that
// nobody needs any more; the caller deletes them once tx has committed. A blob
// that a crash leaves in between has no row, and the sweep finds it.
func Remove(ctx context.Context, tx *db.Tx, uploadID string) (blobKeys []string, err error) {
	// Locked first: whoever uses the content at the same time has done so, and the
	// statements below see it, or waits until the content is gone.
	used, err := tx.ContentLock(ctx, uploadID)
	if err == nil {
		err = tx.ProjectRemoveUses(ctx, uploadID)
	}
	if err == nil {
		err = tx.ProjectRemove(ctx, uploadID)
	}
	for _, c := range used {
		if err != nil {
			break
		}
		var n int64
		n, err = tx.ContentRemoveUnused(ctx, query.ContentRemoveUnusedParams{WorkspaceID: c.WorkspaceID, Sha256: c.Sha256})
		if n == 1 {
			blobKeys = append(blobKeys, c.BlobKey)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("remove the project of %s: %w", uploadID, err)
	}
	return blobKeys, nil
}

// Store reads projects and their content.
type Store struct {
	DB    *db.DB
	Blobs blob.Store
}

// Manifest lists the files of an upload that is kept.
func (s Store) Manifest(ctx context.Context, uploadID string) (m Manifest, err error) {
	err = s.DB.ReadStatement(ctx, func(ctx context.Context, tx *db.Tx) error {
		row, err := tx.ProjectGet(ctx, uploadID)
		if err == nil {
			m, err = decode(row.Manifest)
		}
		return err
	})
	if err != nil {
		return m, fmt.Errorf("read the project of %s: %w", uploadID, err)
	}
	return m, nil
}

// ErrNoContent says that a project has no content of that hash.
var ErrNoContent = errors.New("the project has no such content")

// Open opens content that the project of an upload is made of. Errors:
// ErrNoContent; blob.ErrNotFound when the project's content is lost.
func (s Store) Open(ctx context.Context, uploadID, sha256 string) (blob.Reader, error) {
	var c query.Content
	err := s.DB.ReadStatement(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		c, err = tx.ContentOfProject(ctx, query.ContentOfProjectParams{UploadID: uploadID, Sha256: sha256})
		return err
	})
	if db.IsNotFound(err) {
		err = ErrNoContent
	}
	if err != nil {
		return nil, fmt.Errorf("find the content %s of %s: %w", sha256, uploadID, err)
	}
	return s.Blobs.Open(ctx, c.BlobKey)
}
