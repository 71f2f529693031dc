package preview

import (
	"context"
	"fmt"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/lease"
)

// Drop ends the previews of an upload that is removed, and whose row the caller has
// locked. It returns the keys of their pictures, to be deleted after the commit. The rows
// stay: a deleted upload gives no workspace more previews.
func Drop(ctx context.Context, tx *db.Tx, uploadID string) (blobKeys []string, err error) {
	rows, err := tx.PreviewsOfUpload(ctx, uploadID)
	if err != nil {
		return nil, fmt.Errorf("list previews: %w", err)
	}
	for _, row := range rows {
		switch Status(row.Status) {
		case Failed, Expired:
			continue
		case Queued, Rendering, Ready:
		}
		key, err := expire(ctx, tx, row)
		if err != nil {
			return nil, err
		}
		if key != "" {
			blobKeys = append(blobKeys, key)
		}
	}
	return blobKeys, nil
}

// expire ends a locked preview, or takes its picture away. It returns the picture's key.
func expire(ctx context.Context, tx *db.Tx, row query.Preview) (blobKey string, err error) {
	if err := lease.Drop(ctx, tx, Queue, row.PreviewID); err != nil {
		return "", err
	}
	expired, err := tx.PreviewExpired(ctx, query.PreviewExpiredParams{Now: tx.Now, PreviewID: row.PreviewID})
	if _, err := previewRows.Changed(ctx, tx, expired, err); err != nil {
		return "", fmt.Errorf("expire a preview: %w", err)
	}
	return row.BlobKey, nil
}

// Expire gives up a preview that waits for too long, and removes a picture after its
// retention. It handles a lease of lease.ExpireQueue with the subject ExpirePreview, a
// slash and the preview's id.
func (p *Previews) Expire(ctx context.Context, l lease.Lease, previewID string) error {
	var key string
	err := p.DB.Write(ctx, func(tx *db.Tx) error {
		key = ""
		row, err := tx.PreviewLock(ctx, previewID)
		if db.IsNotFound(err) { // erased, with its workspace
			return lease.Finish(ctx, tx, l.Ref())
		}
		if err != nil {
			return fmt.Errorf("read a preview: %w", err)
		}
		later := int64(0)
		switch Status(row.Status) {
		case Rendering: // it ends within longestHold, one way or the other
			later = row.ClaimedAt + longestHold.Microseconds()
		case Ready:
			later = row.EndedAt + contract.PreviewRetention.Microseconds()
		case Queued, Failed, Expired:
		}
		if later > tx.Now {
			return lease.Reschedule(ctx, tx, l.Ref(), lease.ExpireQueue, db.Time(later))
		}
		switch Status(row.Status) {
		case Queued, Rendering, Ready:
			if key, err = expire(ctx, tx, row); err != nil {
				return err
			}
		case Failed, Expired:
		}
		return lease.Finish(ctx, tx, l.Ref())
	})
	if err != nil || key == "" {
		return err
	}
	return p.Blobs.Delete(ctx, key)
}

// Forget deletes the rows of previews that count for no limit any more and whose upload is
// gone.
func Forget(ctx context.Context, d *db.DB) (int64, error) {
	n, err := d.WritePages(ctx, func(tx *db.Tx, page int64) (int64, error) {
		return tx.PreviewsForget(ctx, query.PreviewsForgetParams{Before: tx.Now - day.Microseconds(), Max: page})
	})
	if err != nil {
		return n, fmt.Errorf("forget previews: %w", err)
	}
	return n, nil
}

// Erase deletes the previews of a workspace whose uploads are removed. Repeating it
// changes nothing.
func Erase(ctx context.Context, tx *db.Tx, workspaceID string) error {
	if err := tx.PreviewsErase(ctx, workspaceID); err != nil {
		return fmt.Errorf("erase previews: %w", err)
	}
	return nil
}
