package intake

import (
	"context"
	"errors"
	"fmt"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/project"
)

// What intake removes at its time: the subjects of lease.ExpireQueue are one of
// these, a slash and the id or key.
const (
	ExpireUpload = "upload" // an upload that nobody started
	ExpireBlob   = "blob"   // bytes that the workspace had sent before
)

// Expire removes an upload that no job uses any more. It handles a lease of
// lease.ExpireQueue with the subject ExpireUpload, a slash and the upload id. The row
// stays, marked as removed, for the jobs and quotes that name it.
//
// The upload's lock orders this and a start, which takes the same lock (quote.Upload):
// either the start comes first and the job is seen here, or the removal does and the
// start is refused.
func (in *Intake) Expire(ctx context.Context, l lease.Lease, uploadID string) error {
	var unused []string
	err := in.DB.Write(ctx, func(tx *db.Tx) error {
		unused = nil
		if _, err := tx.UploadLock(ctx, uploadID); err != nil {
			return fmt.Errorf("expire upload %s: %w", uploadID, err)
		}
		live, err := tx.UploadLiveJobs(ctx, uploadID)
		if err != nil {
			return fmt.Errorf("expire upload %s: %w", uploadID, err)
		}
		if live > 0 { // a running job still needs the file
			return lease.Reschedule(ctx, tx, l.Ref(), lease.ExpireQueue, tx.Time().Add(time.Hour))
		}
		if _, err := tx.UploadRemove(ctx, query.UploadRemoveParams{Now: tx.Now, UploadID: uploadID}); err != nil {
			return fmt.Errorf("expire upload %s: %w", uploadID, err)
		}
		if unused, err = project.Remove(ctx, tx, uploadID); err != nil {
			return err
		}
		return lease.Finish(ctx, tx, l.Ref())
	})
	if err != nil {
		return err
	}
	// Blobs go after their rows: the sweep finds a blob without a row, but nobody
	// could mend a row without its blob.
	for _, key := range unused {
		err = errors.Join(err, in.Blobs.Delete(ctx, key))
	}
	return err
}

// RemoveBlob removes bytes that no upload uses. It handles a lease of lease.ExpireQueue
// with the subject ExpireBlob, a slash and the blob's key. A crash between the two
// steps repeats the first, which finds nothing to do.
func (in *Intake) RemoveBlob(ctx context.Context, l lease.Lease, key string) error {
	if err := in.Blobs.Delete(ctx, key); err != nil {
		return fmt.Errorf("remove the blob %s: %w", key, err)
	}
	return in.DB.Write(ctx, func(tx *db.Tx) error { return lease.Finish(ctx, tx, l.Ref()) })
}
