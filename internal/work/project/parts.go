package project

import (
	"context"
	"fmt"
	"strings"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
)

// ContentOverhead is what a content counts beyond its size: for its row, and for the rest of
// its last block on a disk. ContentUnstarted has the same number.
const ContentOverhead = 4096

// Waiting is what a workspace stores that no job uses.
type Waiting struct {
	Bytes int64
	Loose int64 // parts that no project has
}

// Unstarted returns what of a workspace's content no job uses; a job that failed or was
// cancelled uses nothing. Equal bytes count once.
func Unstarted(ctx context.Context, tx *db.Tx, workspaceID string) (Waiting, error) {
	row, err := tx.ContentUnstarted(ctx, workspaceID)
	if err != nil {
		return Waiting{}, fmt.Errorf("sum the unstarted content of %s: %w", workspaceID, err)
	}
	return Waiting{Bytes: row.Bytes, Loose: row.Loose}, nil
}

// Stored returns which of some content a workspace has, by hash, and which is missing. It
// takes no lock.
func Stored(ctx context.Context, tx *db.Tx, workspaceID string, hashes []string) (has map[string]Content, lacks []string, err error) {
	rows, err := tx.ContentsOf(ctx, query.ContentsOfParams{WorkspaceID: workspaceID, Hashes: jsonOf(hashes)})
	return sorted(rows, hashes, err)
}

// Hold locks the parts of a project until tx ends, so that Create can use them, and returns
// those that the workspace does not have.
func Hold(ctx context.Context, tx *db.Tx, workspaceID string, p Prepared) (lacks []string, err error) {
	rows, err := tx.ContentHold(ctx, query.ContentHoldParams{WorkspaceID: workspaceID, Hashes: jsonOf(p.parts)})
	_, lacks, err = sorted(rows, p.parts, err)
	return lacks, err
}

func sorted(rows []query.Content, hashes []string, err error) (has map[string]Content, lacks []string, _ error) {
	if err != nil {
		return nil, nil, fmt.Errorf("look for parts: %w", err)
	}
	has = map[string]Content{}
	for _, row := range rows {
		has[row.Sha256] = Content{SHA256: row.Sha256, SizeBytes: row.SizeBytes, BlobKey: row.BlobKey}
	}
	for _, sum := range hashes {
		if _, ok := has[sum]; !ok {
			lacks = append(lacks, sum)
		}
	}
	return has, lacks, nil
}

// jsonOf writes hashes as the JSON array that statements take.
func jsonOf(hashes []string) string {
	if len(hashes) == 0 {
		return "[]"
	}
	return `["` + strings.Join(hashes, `","`) + `"]`
}

// Renew gives a part that no project has its whole life again. It does nothing to other
// content. Keep has locked it in the same transaction.
func Renew(ctx context.Context, tx *db.Tx, workspaceID, sha256 string) error {
	row, err := tx.ContentRenew(ctx, query.ContentRenewParams{Now: tx.Now, WorkspaceID: workspaceID, Sha256: sha256})
	if _, err := contentRows.Changed(ctx, tx, row, err); err != nil {
		return fmt.Errorf("renew the part %s: %w", sha256, err)
	}
	return nil
}

// Drop removes content that no project uses, and reports whether it did. The caller deletes its
// blob after the commit.
func Drop(ctx context.Context, tx *db.Tx, workspaceID, sha256 string) (gone bool, err error) {
	keys, err := removeUnused(ctx, tx, []query.Content{{WorkspaceID: workspaceID, Sha256: sha256}})
	if err != nil {
		return false, fmt.Errorf("remove the part %s: %w", sha256, err)
	}
	return len(keys) == 1, nil
}

// EraseLoose removes all parts of a workspace that no project has. It returns the keys of
// their blobs, to be deleted after the commit.
func EraseLoose(ctx context.Context, tx *db.Tx, workspaceID string) (blobKeys []string, err error) {
	for {
		keys, err := removeLoose(ctx, tx, query.ContentLooseParams{Before: tx.Now + 1, WorkspaceID: workspaceID})
		if err != nil || len(keys) == 0 {
			return blobKeys, err
		}
		blobKeys = append(blobKeys, keys...)
	}
}

// ForgetLoose removes some parts that no project has contract.LoosePartLife after they were
// sent. It returns the keys of their blobs, to be deleted after the commit; none when no
// such part is left.
func ForgetLoose(ctx context.Context, tx *db.Tx) (blobKeys []string, err error) {
	return removeLoose(ctx, tx, query.ContentLooseParams{Before: tx.Now - contract.LoosePartLife.Microseconds()})
}

// removeLoose removes some parts. A project that is made meanwhile has locked those that it
// uses: they are waited for, and stay.
func removeLoose(ctx context.Context, tx *db.Tx, of query.ContentLooseParams) (blobKeys []string, err error) {
	loose, err := tx.ContentLoose(ctx, of)
	if err == nil {
		blobKeys, err = removeUnused(ctx, tx, loose)
	}
	if err != nil {
		return nil, fmt.Errorf("remove parts without a project: %w", err)
	}
	return blobKeys, nil
}

// removeUnused removes those of contents that no project has, and returns the keys of their
// blobs. Those of one workspace stand together.
func removeUnused(ctx context.Context, tx *db.Tx, contents []query.Content) (blobKeys []string, err error) {
	for len(contents) > 0 {
		of := contents[0].WorkspaceID
		var hashes []string
		for len(contents) > 0 && contents[0].WorkspaceID == of {
			hashes, contents = append(hashes, contents[0].Sha256), contents[1:]
		}
		keys, err := tx.ContentsRemoveUnused(ctx, query.ContentsRemoveUnusedParams{WorkspaceID: of, Hashes: jsonOf(hashes)})
		if err != nil {
			return nil, err
		}
		blobKeys = append(blobKeys, keys...)
	}
	return blobKeys, nil
}
