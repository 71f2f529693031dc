package intake

import (
	"context"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/inspection"
	"svc.example/internal/work/project"
	"svc.example/internal/work/quote"
)

// OpenQuote returns a quote of an upload that a job can accept, in the caller's
// transaction: the newest one while it is open, otherwise a new one for the same
// frames at today's price. An accepted one is replaced as well, so the same upload
// can be rendered again. Errors: upload_not_found.
func (in *Intake) OpenQuote(ctx context.Context, tx *db.Tx, workspaceID, uploadID string) (quote.Quote, error) {
	upload, err := quote.Upload(ctx, tx, workspaceID, uploadID)
	if err != nil {
		return quote.Quote{}, err
	}
	q, err := newest(ctx, tx, workspaceID, uploadID)
	if err != nil || q.Status == quote.Open {
		return q, err
	}
	own, err := inspection.Read(upload.Scene)
	if err != nil {
		return q, err
	}
	return in.lockAgain(ctx, tx, upload, own, q)
}

// newest returns the most recent quote of an upload, locked by quote.Take. Every upload
// has one, because Quote stores both together.
func newest(ctx context.Context, tx *db.Tx, workspaceID, uploadID string) (quote.Quote, error) {
	quoteID, err := tx.QuoteLatest(ctx, query.QuoteLatestParams{UploadID: uploadID, WorkspaceID: workspaceID})
	if err != nil {
		return quote.Quote{}, fmt.Errorf("find the quote of %s: %w", uploadID, err)
	}
	return quote.Take(ctx, tx, workspaceID, uploadID, quoteID)
}

// lockAgain locks today's price for the frames of an older quote. It cannot work from
// the file of a removed upload. own is the upload's scene.
func (in *Intake) lockAgain(ctx context.Context, tx *db.Tx, upload query.Upload, own quote.Scene, q quote.Quote) (quote.Quote, error) {
	if upload.RemovedAt != 0 {
		return q, removed()
	}
	farm, err := in.farmOf(ctx, tx, upload.WorkspaceID)
	if err != nil {
		return q, err
	}
	again, err := q.Again()
	if err != nil {
		return q, err
	}
	return in.Envelope.Lock(ctx, tx, upload, own, farm, again, in.terms())
}

// Inspected returns what an inspection found, with the newest quote. An expired quote
// is replaced by one at today's price; an accepted one is returned as it is. Only that
// writes. Errors: upload_not_found, also for an upload that was removed.
func (in *Intake) Inspected(ctx context.Context, workspaceID, uploadID string) (out Inspection, err error) {
	out = Inspection{UploadID: uploadID, FrameTime: in.FrameTime}
	own, err := in.own(ctx, workspaceID, uploadID, func(tx *db.Tx, upload query.Upload) (err error) {
		out.Quote, err = quote.Newest(ctx, tx, upload)
		return err
	})
	if err != nil {
		return out, err
	}
	if out.Quote.Status == quote.Expired {
		err = in.DB.Write(ctx, func(tx *db.Tx) error {
			upload, err := quote.Upload(ctx, tx, workspaceID, uploadID)
			if err != nil {
				return err
			}
			if upload.RemovedAt != 0 {
				return removed()
			}
			if out.Quote, err = newest(ctx, tx, workspaceID, uploadID); err == nil && out.Quote.Status == quote.Expired {
				out.Quote, err = in.lockAgain(ctx, tx, upload, own, out.Quote)
			}
			return err
		})
	}
	if err == nil {
		out.Scene, err = out.Quote.Scene(own)
	}
	return out, err
}

// own reads the scene of an upload, and what else a caller wants of it. The scene of a hostile
// file is five megabytes of JSON, so it is decoded outside of any transaction: on SQLite every
// other write waits for one that writes. The scene of an upload never changes. Error:
// upload_not_found, also for an upload that was removed.
func (in *Intake) own(ctx context.Context, workspaceID, uploadID string, also func(*db.Tx, query.Upload) error) (quote.Scene, error) {
	var text string
	err := in.DB.Read(ctx, func(tx *db.Tx) error {
		upload, err := tx.UploadByID(ctx, uploadID)
		switch {
		case db.IsNotFound(err) || err == nil && upload.WorkspaceID != workspaceID:
			return quote.NoUpload(uploadID)
		case err != nil:
			return fmt.Errorf("read upload: %w", err)
		case upload.RemovedAt != 0:
			return removed()
		}
		text = upload.Scene
		return also(tx, upload)
	})
	if err != nil {
		return quote.Scene{}, err
	}
	return inspection.Read(text)
}

// farmOf is what a quote says about the online workers that may
// render for its workspace.
func (in *Intake) farmOf(ctx context.Context, tx *db.Tx, workspaceID string) (quote.Farm, error) {
	o, err := dispatch.Offered(ctx, tx, workspaceID)
	farm := quote.Farm{BlenderVersion: o.BlenderVersion, Workers: o.Workers, DenoiseOff: o.DenoiseOff, NoDenoiser: o.NoDenoiser, Lacks: o.Lacks, FrameOutputs: in.FrameOutputs}
	for _, c := range o.Colors {
		farm.Colors = append(farm.Colors, quote.Colors(c))
	}
	return farm, err
}

// removed is the error of an upload whose file is gone.
func removed() error {
	return fault.New(fault.UploadNotFound, "The upload no longer exists: it was deleted, or it expired before it was used.")
}

// Requote locks a price for other frames or settings of an upload, in the caller's transaction.
// It takes the scene that Compare has read or Choose has found, and reads neither file nor
// scene. Older quotes stay as they are. Errors: upload_not_found, storage_limit_reached and
// those of quote.Envelope.Lock.
func (in *Intake) Requote(ctx context.Context, tx *db.Tx, workspaceID, uploadID string, requested quote.RequestedFrames) (Inspection, error) {
	upload, err := quote.Upload(ctx, tx, workspaceID, uploadID)
	if err != nil {
		return Inspection{}, err
	}
	if upload.RemovedAt != 0 {
		return Inspection{}, removed()
	}
	farm, err := in.farmOf(ctx, tx, workspaceID)
	if err != nil {
		return Inspection{}, err
	}
	q, err := in.Envelope.Lock(ctx, tx, upload, *requested.Own, farm, requested, in.terms())
	if err == nil {
		err = in.checkStored(ctx, tx, workspaceID, project.Waiting{}, 0)
	}
	return Inspection{UploadID: uploadID, Scene: requested.Choice.Of(*requested.Own), Quote: q, FrameTime: in.FrameTime}, err
}
