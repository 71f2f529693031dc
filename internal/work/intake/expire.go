package intake

import (
	"context"
	"errors"
	"fmt"
	"time"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/preview"
	"svc.example/internal/work/project"
	"svc.example/internal/work/quote"
)

// ExpireUpload is what intake removes at its time: the subjects of lease.ExpireQueue
// are this, a slash and the upload id.
const ExpireUpload = "upload"

// Expire removes an upload that no job uses any more, and of which no job has completed
// or failed for contract.UploadRetention: until then its frames can be ordered again. It
// handles a lease of
// lease.ExpireQueue with the subject ExpireUpload, a slash and the upload id. The row
// stays, marked as removed, for the jobs and quotes that name it.
//
// The upload's lock orders this and a start, which takes the same lock (quote.Upload):
// either the start comes first and the job is seen here, or the removal does and the
// start is refused.
func (in *Intake) Expire(ctx context.Context, l lease.Lease, uploadID string) error {
	var unused []string
	var workspaceID string
	err := in.DB.Write(ctx, func(tx *db.Tx) error {
		unused = nil
		upload, err := tx.UploadLock(ctx, uploadID)
		if err != nil {
			return fmt.Errorf("expire upload %s: %w", uploadID, err)
		}
		workspaceID = upload.WorkspaceID
		live, err := tx.UploadLiveJobs(ctx, uploadID)
		if err != nil {
			return fmt.Errorf("expire upload %s: %w", uploadID, err)
		}
		if live > 0 { // a running job still needs the file
			return lease.Reschedule(ctx, tx, l.Ref(), lease.ExpireQueue, tx.Time().Add(time.Hour))
		}
		used, err := tx.UploadLastUse(ctx, uploadID)
		if err != nil {
			return fmt.Errorf("expire upload %s: %w", uploadID, err)
		}
		if due := db.Time(used).Add(contract.UploadRetention); used != 0 && due.After(tx.Time()) {
			return lease.Reschedule(ctx, tx, l.Ref(), lease.ExpireQueue, due)
		}
		if unused, err = remove(ctx, tx, uploadID); err != nil {
			return err
		}
		return lease.Finish(ctx, tx, l.Ref())
	})
	if err != nil {
		return err
	}
	in.freed(workspaceID)
	return deleteBlobs(ctx, in.Blobs, unused)
}

// Delete removes an upload for its owner, as Expire does at its time, and gives its
// storage back at once. Deleting an upload that is removed already changes nothing and
// is no error, so that a request whose answer was lost can be repeated. Errors:
// upload_not_found, upload_in_use.
func (in *Intake) Delete(ctx context.Context, workspaceID, uploadID string) error {
	var unused []string
	err := in.DB.Write(ctx, func(tx *db.Tx) error {
		unused = nil
		upload, err := quote.Upload(ctx, tx, workspaceID, uploadID)
		if err != nil || upload.RemovedAt != 0 {
			return err
		}
		live, err := tx.UploadLiveJobs(ctx, uploadID)
		if err != nil {
			return fmt.Errorf("delete upload %s: %w", uploadID, err)
		}
		if live > 0 {
			return fault.New(fault.UploadInUse, "This upload is still needed; jobs that have not ended: %d.", live).With(map[string]int64{"jobs": live})
		}
		unused, err = remove(ctx, tx, uploadID)
		return err
	})
	if err != nil {
		return err
	}
	in.freed(workspaceID)
	return deleteBlobs(ctx, in.Blobs, unused)
}

// remove marks a locked upload as removed, ends its previews and removes its project. If no
// job pays for it, what inspect found and its quotes go too: nothing but a small row stays. It
// returns the keys of the blobs that go with it, for deleteBlobs after the commit.
func remove(ctx context.Context, tx *db.Tx, uploadID string) (unused []string, err error) {
	row, err := tx.UploadRemove(ctx, query.UploadRemoveParams{Now: tx.Now, UploadID: uploadID})
	if _, err := uploadRows.Changed(ctx, tx, row, err); err != nil {
		return nil, fmt.Errorf("remove upload %s: %w", uploadID, err)
	}
	if err := dropUnpaid(ctx, tx, uploadID); err != nil {
		return nil, err
	}
	pictures, err := preview.Drop(ctx, tx, uploadID)
	if err != nil {
		return nil, err
	}
	unused, err = project.Remove(ctx, tx, uploadID)
	return append(unused, pictures...), err
}

func dropUnpaid(ctx context.Context, tx *db.Tx, uploadID string) error {
	paid, err := tx.UploadPaidJobs(ctx, uploadID)
	if err != nil {
		return fmt.Errorf("count the jobs of %s: %w", uploadID, err)
	}
	if paid > 0 { // later estimates learn from its scene
		return nil
	}
	row, err := tx.UploadDropScene(ctx, uploadID)
	if _, err := uploadRows.Changed(ctx, tx, row, err); err != nil {
		return fmt.Errorf("drop the scene of %s: %w", uploadID, err)
	}
	return quote.Drop(ctx, tx, uploadID)
}

// deleteBlobs deletes blobs after their rows: the sweep finds a blob without a row, but
// nothing could repair a row without its blob.
func deleteBlobs(ctx context.Context, blobs blob.Store, keys []string) (err error) {
	for _, key := range keys {
		err = errors.Join(err, blobs.Delete(context.WithoutCancel(ctx), key))
	}
	return err
}
