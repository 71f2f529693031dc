package intake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/project"
	"svc.example/internal/work/quote"
)

// Quote makes the upload durable and locks a price for the requested frames. The step
// inTx, unless nil, runs in the same transaction; it may run twice, like every
// transaction. On an error nothing is kept. Errors: those of
// quote.RequestedFrames.Resolve and of inTx, storage_limit_reached, and unavailable
// when the content that the sender named was removed meanwhile.
//
// The blob is committed before the transaction: a crash in between leaves a blob
// without a row, which the sweep removes. The other order could leave a row without its
// file, which nothing could mend.
func (r *Received) Quote(ctx context.Context, requested quote.RequestedFrames, inTx func(*db.Tx, Inspection) error) (Inspection, error) {
	defer r.Abort()
	if _, _, err := requested.Resolve(r.scene.Frames()); err != nil {
		return Inspection{}, err // before the cost of an fsync
	}
	scene, err := json.Marshal(r.scene)
	if err != nil {
		return Inspection{}, fmt.Errorf("write scene: %w", err)
	}
	// Bytes that the workspace has are not made durable a second time.
	known, err := r.intake.knows(ctx, r.workspaceID, r.sha256)
	if err == nil && !known {
		err = r.commit()
	}
	if err != nil {
		return Inspection{}, err
	}
	var out Inspection
	err = r.place.settle(func() (added int64, err error) {
		out, added, err = r.store(ctx, string(scene), requested, inTx)
		if errors.Is(err, errContentGone) {
			if err = r.commit(); err == nil {
				out, added, err = r.store(ctx, string(scene), requested, inTx)
			}
		}
		if r.blob != nil { // before the place is left; a committed blob stays
			r.blob.Abort()
		}
		return added, err
	})
	return out, err
}

// errContentGone reports that content which the workspace had was removed before the
// transaction came to it.
var errContentGone = errors.New("the content was removed meanwhile")

// commit makes the blob durable. A file that was not written, because the workspace
// had its bytes, has to be sent again.
func (r *Received) commit() error {
	if r.blob == nil {
		return fault.New(fault.Unavailable, "The upload with these bytes was removed while they arrived again.").After(time.Second).
			WithAction("Send the request again.")
	}
	if err := r.blob.Commit(); err != nil {
		return fmt.Errorf("store upload: %w", err)
	}
	r.stored = true
	return nil
}

// store runs the transaction of Quote. added is how many bytes more the workspace has
// stored then. A blob that is not used is deleted before store returns, so that no
// bytes lie on the disk that nobody counts.
func (r *Received) store(ctx context.Context, scene string, requested quote.RequestedFrames, inTx func(*db.Tx, Inspection) error) (out Inspection, added int64, err error) {
	err = r.intake.DB.Write(ctx, func(tx *db.Tx) (err error) {
		out, added, err = r.storeIn(ctx, tx, scene, requested)
		if err != nil || inTx == nil {
			return err
		}
		return inTx(tx, out)
	})
	unknown := errors.Is(err, db.ErrUnknown)
	if err != nil {
		out = Inspection{}
		if !unknown {
			added = 0
		}
	}
	if r.stored && added == 0 && !unknown {
		// If this fails, the sweep finds it.
		_ = r.intake.Blobs.Delete(context.WithoutCancel(ctx), r.key)
	}
	return out, added, err
}

// storeIn writes the rows of an upload. The lock of the workspace comes first: of two
// files at once, in whatever processes, the second sees what the first has stored.
func (r *Received) storeIn(ctx context.Context, tx *db.Tx, scene string, requested quote.RequestedFrames) (out Inspection, added int64, err error) {
	if err := identity.LockWorkspace(ctx, tx, r.workspaceID); err != nil {
		return out, 0, err
	}
	// The id may be an awaited upload's, for which another file has arrived
	// meanwhile. The statement then inserts nothing.
	upload := query.UploadCreateParams{
		UploadID: r.uploadID, WorkspaceID: r.workspaceID, Filename: r.filename, Sha256: r.sha256, SizeBytes: r.size,
		Scene: scene, CreatedAt: tx.Now,
	}
	upload.RowSum = uploadRows.Of(upload)
	n, err := tx.UploadCreate(ctx, upload)
	if err != nil {
		return out, 0, fmt.Errorf("store upload: %w", err)
	}
	if n == 0 {
		return out, 0, linkUsed() // another file for this id was faster
	}
	tx.Announce(topic(r.uploadID))
	if added, err = r.keep(ctx, tx); err != nil {
		return out, added, err
	}
	row, err := tx.UploadByID(ctx, r.uploadID)
	if err != nil {
		return out, added, fmt.Errorf("store upload: %w", err)
	}
	out = Inspection{UploadID: r.uploadID, Scene: r.scene, FrameTime: r.intake.FrameTime}
	farm, err := farmOf(ctx, tx)
	if err != nil {
		return out, added, err
	}
	if out.Quote, err = r.intake.Envelope.Lock(ctx, tx, row, r.scene, farm, requested); err != nil {
		return out, added, err
	}
	// Scheduled with the upload itself, so that no crash leaves one that nobody
	// removes.
	return out, added, lease.Add(ctx, tx, lease.ExpireQueue, ExpireUpload+"/"+r.uploadID, 0, tx.Time().Add(contract.UploadRetention))
}

// keep creates the upload's project. If the workspace has sent the same bytes before,
// the project uses those, and nothing is added. Errors: storage_limit_reached,
// errContentGone.
func (r *Received) keep(ctx context.Context, tx *db.Tx) (added int64, err error) {
	kept, err := project.Keep(ctx, tx, r.workspaceID, project.Content{SHA256: r.sha256, SizeBytes: r.size, BlobKey: r.key})
	if err != nil {
		return 0, err
	}
	if kept {
		if !r.stored {
			return 0, errContentGone
		}
		added = r.size
	}
	err = project.Create(ctx, tx, r.workspaceID, r.uploadID, project.SingleFile(r.filename, r.sha256, r.size))
	if err == nil && kept {
		err = r.intake.checkStored(ctx, tx, r.workspaceID, r.size)
	}
	return added, err
}
