package intake

import (
	"context"
	"io"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/project"
)

// Part is a part of a project's file that arrives alone (decisions 16).
type Part struct {
	SHA256    string // that it must have, in lower-case hex
	Announced int64  // bytes; -1 when the sender has not said
	Body      io.Reader
}

// ReceivePart stores a part. It reads all of it even when the workspace has the part, which
// then lives its whole life again; stored is false. A part that no project uses goes
// contract.LoosePartLife after it was sent last. Errors: upload_too_large,
// storage_limit_reached, content_hash_mismatch, invalid_request for an empty part or a body
// that breaks off, and the body's own.
func (in *Intake) ReceivePart(ctx context.Context, workspaceID string, p Part) (size int64, stored bool, err error) {
	if p.Announced > contract.MaxPartBytes {
		return 0, false, partTooLarge()
	}
	d, c, err := in.beginOne(ctx, workspaceID, p.SHA256, p.Announced, true)
	if err != nil {
		return 0, false, err
	}
	defer d.abort()
	source := c.source(ctx, p.Body, contract.MaxPartBytes, partTooLarge)
	if err := readAll(ctx, source); err != nil {
		return 0, false, source.err
	}
	c.read(source)
	switch {
	case c.sha256 != p.SHA256:
		return 0, false, fault.New(fault.ContentHashMismatch, "The path has the SHA-256 %s, but the %d bytes that arrived have %s.", p.SHA256, c.size, c.sha256)
	case c.size == 0:
		return 0, false, fault.Field("body", "is empty; a file of 0 bytes has no parts")
	}
	err = d.write(ctx, func(tx *db.Tx) error {
		if err := identity.LockWorkspace(ctx, tx, workspaceID); err != nil {
			return err
		}
		adds, err := d.keep(ctx, tx)
		switch {
		case err != nil || c.added && d.place.roomy(): // exact sums take longer than a small part
			return err
		case c.added:
			return d.in.checkStored(ctx, tx, workspaceID, adds, 0)
		}
		return project.Renew(ctx, tx, workspaceID, c.sha256)
	})
	return c.size, c.added, err
}

func partTooLarge() error {
	return fault.New(fault.UploadTooLarge, "A part can have at most %d bytes.", contract.MaxPartBytes).WithAction("Send the file in smaller parts.")
}

// ForgetParts removes parts that no project has used within contract.LoosePartLife, and
// returns how many.
func ForgetParts(ctx context.Context, d *db.DB, blobs blob.Store) (n int64, err error) {
	for {
		var keys []string
		err := d.Write(ctx, func(tx *db.Tx) (err error) {
			keys, err = project.ForgetLoose(ctx, tx)
			return err
		})
		if err != nil || len(keys) == 0 {
			return n, err
		}
		n += int64(len(keys))
		if err := deleteBlobs(ctx, blobs, keys); err != nil {
			return n, err
		}
	}
}
