package intake

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/work/project"
)

// draft is content of a workspace while it arrives: its place, and its blob until that is
// committed. End it with write or abort, on every path. Not safe for concurrent use.
type draft struct {
	in          *Intake
	workspaceID string
	place       *place
	key         string
	blob        blob.Writer // nil for content that the workspace has
	stored      bool        // the blob is committed
	tried       bool        // a transaction may have kept it
	added       int64       // bytes more that the workspace has, after keep
	sha256      string
	size        int64
}

// begin makes room for content. sha256 is the hash that it is said to have, "" for none:
// what the workspace has is not written again and costs no storage. Errors:
// storage_limit_reached.
func (in *Intake) begin(ctx context.Context, workspaceID, sha256 string, announced int64) (*draft, error) {
	// The key is of its own: the same bytes may arrive twice at once, and a replaced blob
	// must never be read under the old name.
	d := &draft{in: in, workspaceID: workspaceID, place: &place{}, key: "uploads/" + id.New(id.Upload)}
	known, err := false, error(nil)
	if sha256 != "" {
		known, err = in.knows(ctx, workspaceID, sha256)
	}
	if known || err != nil {
		return d, err
	}
	if d.place, err = in.enter(ctx, workspaceID, announced); err != nil {
		return nil, err
	}
	if d.blob, err = in.Blobs.Create(ctx, d.key); err != nil {
		d.abort()
		return nil, fmt.Errorf("store upload: %w", err)
	}
	return d, nil
}

// abort discards the content. After write it does nothing, so it can be deferred.
func (d *draft) abort() {
	if d.blob != nil {
		d.blob.Abort()
	}
	if d.stored && !d.tried {
		d.stored = false
		_ = d.in.Blobs.Delete(context.Background(), d.key) // if this fails, the sweep finds it
	}
	d.place.leave(0)
}

// errUnknown reports that bytes which the workspace was said to have are not there.
var errUnknown = errors.New("the workspace does not have this content")

// open reads what arrived, from its beginning: the blob, which is committed for it, or the
// same bytes that the workspace has. Error: errUnknown.
func (d *draft) open(ctx context.Context) (r io.ReadCloser, err error) {
	key := d.key
	if d.blob != nil {
		err = d.commit()
	} else {
		err = d.in.DB.Read(ctx, func(tx *db.Tx) (err error) {
			key, err = project.Key(ctx, tx, d.workspaceID, d.sha256)
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	if key == "" {
		return nil, errUnknown
	}
	r, err = d.in.Blobs.Open(ctx, key)
	if d.blob == nil && errors.Is(err, blob.ErrNotFound) {
		return nil, errUnknown
	}
	return r, err
}

// source reads content of at most most bytes; tooLarge is the error of more. What is read
// from it is hashed and stored.
func (d *draft) source(ctx context.Context, body io.Reader, most int64, tooLarge func() error) *capped {
	source := &capped{body: body, left: most, tooLarge: tooLarge, sum: sha256.New(), blob: io.Discard,
		take: func(n int) error { return d.place.take(ctx, n) }}
	if d.blob != nil {
		source.blob = d.blob
	}
	return source
}

// read is what a source has read to its end.
func (d *draft) read(from *capped) {
	d.size, d.sha256 = from.size, hex.EncodeToString(from.sum.Sum(nil))
}

// write makes the content durable and runs inTx, which calls keep, in a transaction. It may
// run it twice. On an error nothing is kept. Errors: those of inTx, and unavailable when the
// content that the sender named was removed meanwhile.
//
// The blob is committed before the transaction: a crash in between leaves a blob
// without a row, which the sweep removes. The other order could leave a row without its
// file, which nothing could mend.
func (d *draft) write(ctx context.Context, inTx func(*db.Tx) error) error {
	// Bytes that the workspace has are not made durable a second time.
	known, err := d.in.knows(ctx, d.workspaceID, d.sha256)
	if err == nil && !known {
		err = d.commit()
	}
	if err != nil {
		return err
	}
	return d.place.settle(func() (added int64, err error) {
		err = d.try(ctx, inTx)
		if errors.Is(err, errContentGone) {
			if err = d.commit(); err == nil {
				err = d.try(ctx, inTx)
			}
		}
		if d.blob != nil { // before the place is left; a committed blob stays
			d.blob.Abort()
		}
		return d.added, err
	})
}

// errContentGone reports that content which the workspace had was removed before the
// transaction came to it.
var errContentGone = errors.New("the content was removed meanwhile")

// commit makes the blob durable. A file that was not written, because the workspace
// had its bytes, has to be sent again.
func (d *draft) commit() error {
	if d.stored {
		return nil
	}
	if d.blob == nil {
		return fault.New(fault.Unavailable, "The upload with these bytes was removed while they arrived again.").After(time.Second).
			WithAction("Send the request again.")
	}
	if err := d.blob.Commit(); err != nil {
		return fmt.Errorf("store upload: %w", err)
	}
	d.stored = true
	return nil
}

// try runs the transaction of write. A blob that is not used is deleted before it returns,
// so that no bytes lie on the disk that nobody counts.
func (d *draft) try(ctx context.Context, inTx func(*db.Tx) error) error {
	d.tried = true
	err := d.in.DB.Write(ctx, func(tx *db.Tx) error {
		d.added = 0
		return inTx(tx)
	})
	unknown := errors.Is(err, db.ErrUnknown)
	if err != nil && !unknown {
		d.added = 0
	}
	if d.stored && d.added == 0 && !unknown {
		// If this fails, the sweep finds it.
		_ = d.in.Blobs.Delete(context.WithoutCancel(ctx), d.key)
	}
	return err
}

// keep registers the content in the transaction of write. If the workspace has the same
// bytes, those are used, and nothing is added. Error: errContentGone.
func (d *draft) keep(ctx context.Context, tx *db.Tx) error {
	kept, err := project.Keep(ctx, tx, d.workspaceID, project.Content{SHA256: d.sha256, SizeBytes: d.size, BlobKey: d.key})
	if err != nil || !kept {
		return err
	}
	if !d.stored {
		return errContentGone
	}
	d.added = d.size
	return nil
}
