// Package project stores what a job renders: the files of an upload and the content
// that they consist of. A lone .blend is a project of one file.
//
// What always holds: an upload has a project until it is removed. A project never
// changes. Its content is on disk before the project is in the database. A workspace
// stores the same bytes once, and never shares them with another workspace. Content
// is removed with the last project that uses it; a part that was sent for a project that
// never came, after a day.
//
// The package leaves receiving and inspecting files to intake, and rendering to
// worker. Start reading at Manifest and Create.
package project

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
)

// Content is bytes in the blob store under BlobKey. The blob is committed before its
// row is written, so a row never names a file that a crash has lost.
type Content struct {
	SHA256    string // lower-case hex
	SizeBytes int64
	BlobKey   string
}

// Keep registers content of a workspace. It returns false when the workspace has the
// same bytes already; the caller then deletes its own blob after tx commits. The
// content stays locked until tx ends, so that Create can use it and no Remove deletes
// it in between. Workspaces never share content, so none can find out what others have
// stored.
func Keep(ctx context.Context, tx *db.Tx, workspaceID string, c Content) (kept bool, err error) {
	row := query.ContentKeepParams{WorkspaceID: workspaceID, Sha256: c.SHA256, SizeBytes: c.SizeBytes, BlobKey: c.BlobKey, CreatedAt: tx.Now}
	row.RowSum = contentRows.Of(row)
	key, err := tx.ContentKeep(ctx, row)
	if err != nil {
		return false, fmt.Errorf("keep content: %w", err)
	}
	return key == c.BlobKey, nil
}

// Key is the key of the blob with content of a workspace; "" where it has none of this hash.
// It takes no lock: the content may be gone by the time that Keep looks for it.
func Key(ctx context.Context, tx *db.Tx, workspaceID, sha256 string) (string, error) {
	key, err := tx.ContentKey(ctx, query.ContentKeyParams{WorkspaceID: workspaceID, Sha256: sha256})
	if err != nil && !db.IsNotFound(err) {
		return "", fmt.Errorf("look for the content %s: %w", sha256, err)
	}
	return key, nil
}

// Prepared is a manifest in the form in which Create stores it. A manifest may list ten
// thousand files, so it is checked, sorted and written before a transaction begins: on SQLite
// every other write waits for that one.
type Prepared struct {
	text  string   // canonical
	parts []string // Manifest.Parts
}

// Prepare checks a manifest and makes it ready for Hold and Create.
func (m Manifest) Prepare() (Prepared, error) {
	if err := m.Check(); err != nil {
		return Prepared{}, fmt.Errorf("make a project: %w", err)
	}
	text, err := m.encode()
	return Prepared{text: text, parts: m.Parts()}, err
}

// Create makes the project of an upload. Keep has registered all its parts in the same
// transaction. An upload has one project; a second Create for it is an error.
func Create(ctx context.Context, tx *db.Tx, workspaceID, uploadID string, p Prepared) error {
	err := tx.ProjectCreate(ctx, query.ProjectCreateParams{UploadID: uploadID, WorkspaceID: workspaceID, Manifest: p.text, CreatedAt: tx.Now})
	if err != nil {
		return fmt.Errorf("make a project: %w", err)
	}
	err = tx.ProjectUse(ctx, query.ProjectUseParams{UploadID: uploadID, WorkspaceID: workspaceID, Hashes: jsonOf(p.parts)})
	if err != nil {
		return fmt.Errorf("make a project of its content: %w", err)
	}
	return nil
}

// Remove deletes the project of an upload. It returns the keys of blobs that are no
// longer used; the caller deletes them after tx commits. If a crash comes in between,
// the sweep finds the blobs. Without a project it removes nothing and returns no error,
// so a repeat is harmless.
func Remove(ctx context.Context, tx *db.Tx, uploadID string) (blobKeys []string, err error) {
	// The lock comes first. A concurrent Keep of the same content has either
	// finished, and the statements below see it, or it waits until the content is
	// gone.
	used, err := tx.ContentLock(ctx, uploadID)
	if err == nil {
		err = tx.ProjectRemoveUses(ctx, uploadID)
	}
	if err == nil {
		err = tx.ProjectRemove(ctx, uploadID)
	}
	if err == nil {
		blobKeys, err = removeUnused(ctx, tx, used)
	}
	if err != nil {
		return nil, fmt.Errorf("remove the project of %s: %w", uploadID, err)
	}
	return blobKeys, nil
}

// Store reads projects and their content, for workers. It does not check workspaces:
// the caller has a lease of a job of the upload. Safe for concurrent use.
type Store struct {
	DB    *db.DB
	Blobs blob.Store
	Whole *blob.Whole // what of Blobs was hashed, one for the process
}

// Manifest returns the files of an upload, in the order of their paths. An upload
// without a project, because it was removed, is an error that db.IsNotFound recognises.
func (s Store) Manifest(ctx context.Context, uploadID string) (m Manifest, err error) {
	err = s.DB.ReadStatement(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		m, err = ManifestOf(ctx, tx, uploadID)
		return err
	})
	return m, err
}

// ManifestOf is Manifest in a transaction.
func ManifestOf(ctx context.Context, tx *db.Tx, uploadID string) (m Manifest, err error) {
	row, err := tx.ProjectGet(ctx, uploadID)
	if err == nil {
		m, err = decode(row.Manifest)
	}
	if err != nil {
		return m, fmt.Errorf("read the project of %s: %w", uploadID, err)
	}
	return m, nil
}

// Scene names what an upload renders: uploads of one workspace with the same files and aliases
// have the same name, and no others do. What makes it the workspace's own is the key under
// which that keeps the main file, which is random: the name does not reveal whose it is, or
// which workspaces have the same files. After the last upload is removed, the next one gets
// another name. Error: ErrNoContent.
func (s Store) Scene(ctx context.Context, uploadID string, m Manifest) (string, error) {
	main := slices.IndexFunc(m.Files, func(f File) bool { return f.Path == m.Main })
	if main < 0 || len(m.Files[main].Parts) == 0 {
		return "", nil
	}
	key, err := s.Key(ctx, uploadID, m.Files[main].Parts[0])
	if err != nil {
		return "", err
	}
	text, err := m.encode()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(key + "\n" + text))
	return hex.EncodeToString(sum[:]), nil
}

// ErrNoContent reports that a project has no content with that hash.
var ErrNoContent = errors.New("the project has no such content")

// Open opens content of an upload's project. The caller closes the reader. Content of
// other projects cannot be reached, even by its hash. Errors: ErrNoContent;
// blob.ErrNotFound and blob.ErrDamaged when the content is lost.
func (s Store) Open(ctx context.Context, uploadID, sha256 string) (blob.Reader, error) {
	key, err := s.Key(ctx, uploadID, sha256)
	if err != nil {
		return nil, err
	}
	return s.Whole.Open(ctx, s.Blobs, key, sha256)
}

// Lost returns the path of the first file of an upload whose content is gone or damaged,
// "" when all of it is whole. It reads every byte.
func (s Store) Lost(ctx context.Context, uploadID string) (path string, err error) {
	m, err := s.Manifest(ctx, uploadID)
	if err != nil {
		return "", err
	}
	for _, f := range m.Files {
		for _, sum := range f.Parts {
			key, err := s.Key(ctx, uploadID, sum)
			if err == nil {
				err = s.Whole.Recheck(ctx, s.Blobs, key, sum)
			}
			if errors.Is(err, blob.ErrNotFound) || errors.Is(err, blob.ErrDamaged) {
				return f.Path, nil
			}
			if err != nil {
				return "", err
			}
		}
	}
	return "", nil
}

// Key is where content of an upload's project is stored. Error: ErrNoContent.
func (s Store) Key(ctx context.Context, uploadID, sha256 string) (string, error) {
	var c query.Content
	err := s.DB.ReadStatement(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		c, err = tx.ContentOfProject(ctx, query.ContentOfProjectParams{UploadID: uploadID, Sha256: sha256})
		return err
	})
	if db.IsNotFound(err) {
		err = ErrNoContent
	}
	if err != nil {
		return "", fmt.Errorf("find the content %s of %s: %w", sha256, uploadID, err)
	}
	return c.BlobKey, nil
}
