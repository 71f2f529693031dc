package intake

import (
	"context"
	"encoding/json"
	"fmt"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/project"
	"svc.example/internal/work/quote"
)

// Quote makes the upload durable and locks a price for the requested frames. The step
// inTx, unless nil, runs in the same transaction; it may run twice, like every
// transaction. On an error nothing is kept. Errors: those of
// quote.RequestedFrames.Resolve, of draft.write and of inTx, and storage_limit_reached.
func (r *Received) Quote(ctx context.Context, requested quote.RequestedFrames, inTx func(*db.Tx, Inspection) error) (out Inspection, err error) {
	defer r.Abort()
	if r.refused != nil && r.choice.Scene == nil {
		return Inspection{}, r.refused
	}
	rendered := r.scene
	if r.choice.Scene != nil {
		rendered = *r.choice.Scene
	}
	if _, _, err := requested.Resolve(rendered.Frames()); err != nil {
		return Inspection{}, err // before the cost of an fsync
	}
	requested.Choice = r.choice
	if requested, err = r.compare(ctx, requested); err != nil {
		return Inspection{}, err
	}
	scene, err := json.Marshal(r.scene)
	if err != nil {
		return Inspection{}, fmt.Errorf("write scene: %w", err)
	}
	files, err := r.manifest.Prepare()
	if err != nil {
		return Inspection{}, err
	}
	err = r.write(ctx, func(tx *db.Tx) (err error) {
		out, err = r.storeIn(ctx, tx, string(scene), files, requested)
		if err != nil || inTx == nil {
			return err
		}
		return inTx(tx, out)
	})
	if err != nil {
		out = Inspection{}
	}
	return out, err
}

// storeIn writes the rows of an upload. The lock of the workspace comes first: if two
// files come at once, in any processes, the second sees what the first has stored.
func (r *Received) storeIn(ctx context.Context, tx *db.Tx, scene string, files project.Prepared, requested quote.RequestedFrames) (out Inspection, err error) {
	if err := identity.LockWorkspace(ctx, tx, r.workspaceID); err != nil {
		return out, err
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
		return out, fmt.Errorf("store upload: %w", err)
	}
	if n == 0 {
		return out, linkUsed() // another file for this id was faster
	}
	tx.Announce(topic(r.uploadID))
	adds, err := r.makeProject(ctx, tx, files)
	if err != nil {
		return out, err
	}
	row, err := tx.UploadByID(ctx, r.uploadID)
	if err != nil {
		return out, fmt.Errorf("store upload: %w", err)
	}
	out = Inspection{UploadID: r.uploadID, FrameTime: r.in.FrameTime}
	farm, err := r.in.farmOf(ctx, tx, r.workspaceID)
	if err != nil {
		return out, err
	}
	if out.Quote, err = r.in.Envelope.Lock(ctx, tx, row, r.scene, farm, requested, r.in.terms()); err != nil {
		return out, err
	}
	if out.Scene, err = out.Quote.Scene(r.scene); err != nil {
		return out, err
	}
	if err := r.in.checkStored(ctx, tx, r.workspaceID, adds, int64(len(scene))); err != nil {
		return out, err
	}
	// Scheduled with the upload itself, so that a crash cannot leave one that
	// is never removed.
	return out, lease.Add(ctx, tx, lease.ExpireQueue, ExpireUpload+"/"+r.uploadID, 0, tx.Time().Add(contract.UploadRetention))
}

// makeProject creates the upload's project, and returns the content that it adds.
// Error: parts_missing when parts of a project were removed meanwhile.
func (r *Received) makeProject(ctx context.Context, tx *db.Tx, files project.Prepared) (adds project.Waiting, err error) {
	if adds, err = r.keep(ctx, tx); err != nil {
		return adds, err
	}
	adds.Loose = 0 // the project has it
	lacks, err := project.Hold(ctx, tx, r.workspaceID, files)
	if err == nil && len(lacks) > 0 {
		err = partsMissing(lacks)
	}
	if err == nil {
		err = project.Create(ctx, tx, r.workspaceID, r.uploadID, files)
	}
	return adds, err
}
