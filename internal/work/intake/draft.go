package intake

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/project"
)

// draft is what arrives for a workspace and is stored together: one file, the files of an
// archive, or nothing but what the workspace has. End it with write or abort, on every path.
// Not safe for concurrent use.
type draft struct {
	in          *Intake
	workspaceID string
	place       *place
	contents    []*content
}

// content is bytes of a draft, and their blob until that is committed.
type content struct {
	in     *Intake
	place  *place
	key    string
	blob   blob.Writer // nil for what the workspace has
	stored bool        // the blob is committed
	added  bool        // the workspace did not have it
	early  bool        // it was registered before the transaction of write (keepEarly)
	summed bool        // a sum over the workspace has it already
	sha256 string
	size   int64
}

// begin makes a draft with room for announced bytes. Errors: storage_limit_reached.
func (in *Intake) begin(ctx context.Context, workspaceID string, announced int64, isPart bool) (*draft, error) {
	p, err := in.enter(ctx, workspaceID, announced, isPart)
	if err != nil {
		return nil, err
	}
	return &draft{in: in, workspaceID: workspaceID, place: p}, nil
}

// beginKnown makes a draft of what the workspace has, which costs no storage.
func (in *Intake) beginKnown(workspaceID string) *draft {
	return &draft{in: in, workspaceID: workspaceID, place: &place{in: in, workspaceID: workspaceID}}
}

// beginOne makes a draft of one content. sha256 is the hash that it is said to have, ""
// for none: content that the workspace has is not written again. Errors:
// storage_limit_reached.
func (in *Intake) beginOne(ctx context.Context, workspaceID, sha256 string, announced int64, isPart bool) (*draft, *content, error) {
	if sha256 != "" {
		known, err := in.knows(ctx, workspaceID, sha256)
		if err != nil {
			return nil, nil, err
		}
		if known {
			d := in.beginKnown(workspaceID)
			c := &content{in: in, place: d.place}
			d.contents = []*content{c}
			return d, c, nil
		}
	}
	d, err := in.begin(ctx, workspaceID, announced, isPart)
	if err != nil {
		return nil, nil, err
	}
	c, err := d.add(ctx)
	if err != nil {
		d.abort()
		return nil, nil, err
	}
	return d, c, nil
}

// add begins another content. Errors: storage_limit_reached.
func (d *draft) add(ctx context.Context) (*content, error) {
	// The key is of its own: the same bytes may arrive twice at once, and a replaced blob
	// must never be read under the old name.
	c := &content{in: d.in, place: d.place, key: "uploads/" + id.New(id.Upload)}
	if err := d.place.take(ctx, project.ContentOverhead); err != nil {
		return nil, err
	}
	w, err := d.in.Blobs.Create(ctx, c.key)
	if err != nil {
		return nil, fmt.Errorf("store upload: %w", err)
	}
	c.blob = w
	d.contents = append(d.contents, c)
	return c, nil
}

// drop takes a content out of the draft, because its bytes are stored already.
func (d *draft) drop(c *content) {
	c.abort()
	d.contents = slices.DeleteFunc(d.contents, func(other *content) bool { return other == c })
}

// abort discards what has arrived. After write it does nothing, so it can be deferred.
func (d *draft) abort() {
	for _, c := range d.contents {
		c.abort()
	}
	d.place.leave(0)
}

// abort discards a content that no row names.
func (c *content) abort() {
	if c.blob != nil {
		c.blob.Abort() // of a committed one it does nothing
	}
	if c.stored && !c.added {
		// If this fails, the sweep finds it.
		_ = c.in.Blobs.Delete(context.Background(), c.key)
		c.stored = false
	}
}

// errUnknown reports that bytes which the workspace claimed to have are not there.
var errUnknown = errors.New("the workspace does not have this content")

// open reads what arrived, from its beginning: the blob, which is committed for it, or the
// same bytes that the workspace has. Error: errUnknown.
func (c *content) open(ctx context.Context, workspaceID string) (r io.ReadCloser, err error) {
	key := c.key
	if c.blob != nil {
		err = c.commit()
	} else {
		key, err = c.in.key(ctx, workspaceID, c.sha256)
	}
	if err != nil {
		return nil, err
	}
	if key == "" {
		return nil, errUnknown
	}
	r, err = c.in.Blobs.Open(ctx, key)
	if c.blob == nil && errors.Is(err, blob.ErrNotFound) {
		return nil, errUnknown
	}
	return r, err
}

// source reads content of at most most bytes; tooLarge is the error of more. What is read
// from it is hashed and stored.
func (c *content) source(ctx context.Context, body io.Reader, most int64, tooLarge func() error) *capped {
	source := &capped{body: body, left: most, tooLarge: tooLarge, sum: sha256.New(), blob: io.Discard,
		take: func(n int) error { return c.place.take(ctx, n) }}
	if c.blob != nil {
		source.blob = c.blob
	}
	return source
}

// read is what a source has read to its end.
func (c *content) read(from *capped) {
	c.size, c.sha256 = from.size, hex.EncodeToString(from.sum.Sum(nil))
}

// write makes everything durable and runs inTx, which calls keep, in a transaction. It may
// run it twice. On an error nothing is kept. Errors: those of inTx, and unavailable when
// content that the workspace had was removed meanwhile.
//
// Blobs are committed before the transaction: a crash in between leaves a blob without a
// row, which the sweep removes. The other order could leave a row without its file, which
// nothing could repair.
func (d *draft) write(ctx context.Context, inTx func(*db.Tx) error) error {
	for _, c := range d.contents {
		if err := c.commitUnknown(ctx, d.workspaceID); err != nil {
			return err
		}
	}
	return d.place.settle(ctx, func() (added int64, err error) {
		defer func() { // before the place is left, so that bytes on the disk are not counted twice
			for _, c := range d.contents {
				if !errors.Is(err, db.ErrUnknown) {
					c.abort()
				}
				if c.added && !c.summed {
					added += c.size + project.ContentOverhead
				}
			}
		}()
		return 0, d.store(ctx, inTx)
	})
}

// store runs the transaction of write, again where that can help, and keeps nothing if it fails.
func (d *draft) store(ctx context.Context, inTx func(*db.Tx) error) error {
	err := d.keepEarly(ctx)
	if err == nil {
		err = d.try(ctx, inTx)
	}
	if gone, ok := errors.AsType[*goneError](err); ok {
		if err = gone.content.commit(); err == nil {
			err = d.try(ctx, inTx)
		}
	}
	if fault.Is(err, fault.StorageLimitReached) && d.place.sumAgain(ctx) { // something may have been removed
		for _, c := range d.contents {
			c.summed = c.early && c.added
		}
		err = d.try(ctx, inTx)
	}
	if err != nil && !errors.Is(err, db.ErrUnknown) {
		err = errors.Join(err, d.dropEarly(ctx))
	}
	return err
}

// pageContents is how many contents of a draft a transaction registers: few enough that no
// other write waits long for it.
const pageContents = 200

// keepEarly registers the contents of a large draft, such as an archive of ten thousand files,
// in pages before the transaction that stores the project. Until then they are parts that no
// project uses: a crash leaves them, and they go a day later. What is larger than a part waits
// for the transaction.
func (d *draft) keepEarly(ctx context.Context) error {
	if len(d.contents) <= pageContents {
		return nil
	}
	for page := range slices.Chunk(d.contents, pageContents) {
		small := slices.DeleteFunc(slices.Clone(page), func(c *content) bool { return c.size > contract.MaxPartBytes })
		for err := d.keepPage(ctx, small); err != nil; err = d.keepPage(ctx, small) {
			gone, ok := errors.AsType[*goneError](err)
			if !ok {
				return err
			}
			if err := gone.content.commit(); err != nil {
				return err
			}
		}
	}
	return nil
}

// keepPage registers contents in a transaction of their own. Error: goneError.
func (d *draft) keepPage(ctx context.Context, page []*content) error {
	added := make([]bool, len(page))
	err := d.in.DB.Write(ctx, func(tx *db.Tx) error {
		if err := identity.LockWorkspace(ctx, tx, d.workspaceID); err != nil {
			return err
		}
		for i, c := range page {
			kept, err := d.register(ctx, tx, c)
			if err != nil {
				return err
			}
			added[i] = kept
		}
		return nil
	})
	if err == nil || errors.Is(err, db.ErrUnknown) {
		for i, c := range page {
			c.early, c.added = true, added[i]
		}
	}
	return err
}

// dropEarly removes what keepEarly has registered for a draft that is not stored. What a
// project has used meanwhile stays.
func (d *draft) dropEarly(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	for page := range slices.Chunk(d.contents, pageContents) {
		var removed []*content
		err := d.in.DB.Write(ctx, func(tx *db.Tx) error {
			removed = nil
			for _, c := range page {
				if !c.early || !c.added {
					continue
				}
				gone, err := project.Drop(ctx, tx, d.workspaceID, c.sha256)
				if err != nil {
					return err
				}
				if gone {
					removed = append(removed, c)
				}
			}
			return nil
		})
		if err != nil {
			return err // parts without a project go a day later
		}
		for _, c := range removed {
			c.added = false
		}
	}
	return nil
}

// try runs the transaction of write. If it fails, what it added is taken back; if its
// outcome is unknown, that stays.
func (d *draft) try(ctx context.Context, inTx func(*db.Tx) error) error {
	none := func() {
		for _, c := range d.contents {
			c.added = c.added && c.early
		}
	}
	err := d.in.DB.Write(ctx, func(tx *db.Tx) error {
		none()
		return inTx(tx)
	})
	if err != nil && !errors.Is(err, db.ErrUnknown) {
		none()
	}
	return err
}

// commitUnknown makes content durable that the workspace does not have.
func (c *content) commitUnknown(ctx context.Context, workspaceID string) error {
	if c.stored {
		return nil
	}
	known, err := c.in.knows(ctx, workspaceID, c.sha256)
	if err == nil && !known {
		err = c.commit()
	}
	return err
}

// goneError reports that content which the workspace had was removed before the
// transaction came to it.
type goneError struct{ content *content }

func (e *goneError) Error() string {
	return "the content " + e.content.sha256 + " was removed meanwhile"
}

// commit makes the blob durable. A file that was not written, because the workspace
// had its bytes, has to be sent again.
func (c *content) commit() error {
	if c.stored {
		return nil
	}
	if c.blob == nil {
		return fault.New(fault.Unavailable, "The earlier upload of this file was removed during the upload.").After(time.Second).
			WithAction("Send the request again.")
	}
	if err := c.blob.Commit(); err != nil {
		return fmt.Errorf("store upload: %w", err)
	}
	c.stored = true
	return nil
}

// keep registers the contents in the transaction of write, unless keepEarly has, and returns
// what the draft adds. If the workspace has the same bytes, those are used, and nothing is added.
// The caller has locked the workspace's row, and checks its bound (checkStored). Error: goneError.
func (d *draft) keep(ctx context.Context, tx *db.Tx) (adds project.Waiting, err error) {
	for _, c := range d.contents {
		if !c.early {
			if c.added, err = d.register(ctx, tx, c); err != nil {
				return adds, err
			}
		}
		if c.added && !c.summed {
			adds.Bytes += c.size + project.ContentOverhead
			adds.Loose++
		}
	}
	return adds, nil
}

// register is keep for one content; it reports whether the workspace did not have it.
func (d *draft) register(ctx context.Context, tx *db.Tx, c *content) (added bool, err error) {
	added, err = project.Keep(ctx, tx, d.workspaceID, project.Content{SHA256: c.sha256, SizeBytes: c.size, BlobKey: c.key})
	if err == nil && added && !c.stored {
		err = &goneError{c}
	}
	return added && err == nil, err
}
