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
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/quote"
)

// Awaited is an upload whose id exists before its file arrives: an agent gets the id at
// once and passes on a link, or names an address to fetch.
type Awaited struct {
	UploadID string
	// Source is the address to fetch the file from; "" when its owner uploads it by a
	// link.
	Source string
	// ExpiresAt is the end of an upload link. A fetch has its own timeout.
	ExpiresAt time.Time
	// Refused is the error of the last file that arrived; nil when none was refused.
	Refused *fault.Error
}

// maxFetches bounds a workspace's simultaneous fetches, those that wait included, so
// that one workspace cannot use all of the service's bandwidth.
const maxFetches = 4

// Await creates an awaited upload: by link, or with a source, which FetchQueue fetches.
// The caller has checked the source (CheckSource). A repeated call makes another id.
// The count of fetches takes no lock, so calls at the same moment may exceed it by a
// few. Errors: rate_limited when too many fetches run.
func (in *Intake) Await(ctx context.Context, workspaceID, source string) (a Awaited, err error) {
	err = in.DB.Write(ctx, func(tx *db.Tx) error {
		terms := in.terms()
		a = Awaited{UploadID: id.New(id.Upload), Source: source, ExpiresAt: tx.Time().Add(terms.UploadLinkLife)}
		if source != "" {
			n, err := tx.AwaitedFetching(ctx, workspaceID)
			if err != nil {
				return fmt.Errorf("count fetches: %w", err)
			}
			if n >= maxFetches {
				return fault.New(fault.RateLimited, "%d files are being fetched for this workspace, which is the maximum.", n).After(10 * time.Second)
			}
			if err := lease.Add(ctx, tx, FetchQueue, a.UploadID, 0, time.Time{}); err != nil {
				return err
			}
		}
		row := query.AwaitedCreateParams{
			UploadID: a.UploadID, WorkspaceID: workspaceID, Source: source, CreatedAt: tx.Now, ExpiresAt: db.Micros(a.ExpiresAt), FaultDetail: "null", TermsVersion: terms.Version,
		}
		row.RowSum = awaitedRows.Of(row)
		if err := tx.AwaitedCreate(ctx, row); err != nil {
			return fmt.Errorf("await an upload: %w", err)
		}
		return nil
	})
	return a, err
}

// Awaited reads an awaited upload of a workspace. Once its file has arrived, Inspected
// describes it. Afterwards it stays readable for keepAwaited. Error: upload_not_found.
func (in *Intake) Awaited(ctx context.Context, workspaceID, uploadID string) (a Awaited, err error) {
	err = in.DB.Read(ctx, func(tx *db.Tx) error {
		row, err := awaited(ctx, tx, uploadID)
		if err == nil && row.WorkspaceID != workspaceID {
			err = noAwaited(uploadID)
		}
		if err != nil {
			return err
		}
		upload, err := tx.UploadByID(ctx, uploadID)
		if err == nil && upload.RemovedAt != 0 {
			return removed() // its file arrived, and was deleted since
		}
		if err != nil && !db.IsNotFound(err) {
			return fmt.Errorf("read upload: %w", err)
		}
		a = Awaited{UploadID: uploadID, Source: row.Source, ExpiresAt: db.Time(row.ExpiresAt), Refused: refusedAs(row)}
		return nil
	})
	return a, err
}

// Linked reads an awaited upload for the holder of its signed link, and whether its file
// has arrived. Error: upload_not_found.
func (in *Intake) Linked(ctx context.Context, uploadID string) (a Awaited, arrived bool, err error) {
	err = in.DB.Read(ctx, func(tx *db.Tx) error {
		row, err := awaited(ctx, tx, uploadID)
		if err != nil {
			return err
		}
		a = Awaited{UploadID: uploadID, Source: row.Source, ExpiresAt: db.Time(row.ExpiresAt), Refused: refusedAs(row)}
		_, err = tx.UploadByID(ctx, uploadID)
		if arrived = err == nil; db.IsNotFound(err) {
			err = nil
		}
		return err
	})
	return a, arrived, err
}

func awaited(ctx context.Context, tx *db.Tx, uploadID string) (query.AwaitedUpload, error) {
	row, err := tx.AwaitedGet(ctx, uploadID)
	if db.IsNotFound(err) {
		return row, noAwaited(uploadID)
	}
	if err != nil {
		return row, fmt.Errorf("read awaited upload: %w", err)
	}
	return row, nil
}

func noAwaited(uploadID string) error {
	return fault.New(fault.UploadNotFound, "There is no upload %s in this workspace.", uploadID)
}

// refusedAs rebuilds the error of the file that was refused last, as the sender got it.
// A detail is stored as JSON text, "null" for none.
func refusedAs(row query.AwaitedUpload) *fault.Error {
	if row.FaultCode == "" {
		return nil
	}
	e := fault.New(fault.Code(row.FaultCode), "%s", row.FaultText).WithAction(row.FaultAction)
	if row.FaultDetail != "null" {
		e = e.With(json.RawMessage(row.FaultDetail))
	}
	return e
}

// ReceiveAwaited receives the file of an upload link. A refused file leaves the link
// open for a better one; an accepted file ends it. If several files come at once, the
// first to be stored wins, and the others get link_invalid. Errors: upload_not_found,
// link_invalid, and those of Receive and Quote.
func (in *Intake) ReceiveAwaited(ctx context.Context, uploadID string, f File) (Inspection, error) {
	var row query.AwaitedUpload
	err := in.DB.Read(ctx, func(tx *db.Tx) (err error) {
		if row, err = awaited(ctx, tx, uploadID); err != nil {
			return err
		}
		if row.Source != "" || tx.Now >= row.ExpiresAt {
			return fault.New(fault.LinkInvalid, "The upload link has expired.")
		}
		if _, err = tx.UploadByID(ctx, uploadID); db.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read upload: %w", err)
		}
		return linkUsed()
	})
	if err != nil {
		return Inspection{}, err
	}
	i, err := in.accept(ctx, row, f, nil)
	// Only the file's own faults are stored. A failure of the service says nothing
	// about the file, and a used link is reported to its user.
	if fault.Of(err) != fault.Internal && !fault.Is(err, fault.LinkInvalid) && err != nil {
		err = errors.Join(err, in.recordRefusal(ctx, uploadID, err, nil))
	}
	return i, err
}

// linkUsed refuses a second file: the upload's id stands for the first one forever.
func linkUsed() error {
	return fault.New(fault.LinkInvalid, "The upload link has already received its file.")
}

// accept receives the file of an awaited upload and quotes the scene's own range.
func (in *Intake) accept(ctx context.Context, row query.AwaitedUpload, f File, inTx func(*db.Tx, Inspection) error) (Inspection, error) {
	r, err := in.receive(ctx, row.WorkspaceID, row.UploadID, f)
	if err != nil {
		return Inspection{}, err
	}
	i, err := r.Quote(ctx, quote.RequestedFrames{}, inTx)
	if e, ok := errors.AsType[*fault.Error](err); ok && (e.Code == fault.FrameRangeTooLarge || e.Code == fault.InvalidFrameRange) {
		// An upload link has no parameters, so the caller cannot choose another
		// range.
		return i, e.WithAction(fmt.Sprintf("Set the scene's frame range to at most %d frames, starting at 1 or later, save, and upload again.", contract.MaxFrames))
	}
	return i, err
}

// recordRefusal stores why a file was refused, for a caller that asks later, and ends
// the fetch that brought it.
func (in *Intake) recordRefusal(ctx context.Context, uploadID string, refused error, fetch *lease.Ref) error {
	_, body := fault.Envelope(refused, "")
	detail, err := json.Marshal(body.Error.Detail)
	if err != nil {
		return fmt.Errorf("record a refusal: %w", err)
	}
	// The sender may have gone; its file was wrong all the same.
	ctx = context.WithoutCancel(ctx)
	return in.DB.Write(ctx, func(tx *db.Tx) error {
		row, err := tx.AwaitedRefused(ctx, query.AwaitedRefusedParams{
			Code: string(body.Error.Code), Text: body.Error.Message, Action: body.Error.SuggestedAction, Detail: string(detail), UploadID: uploadID,
		})
		if _, err := awaitedRows.Changed(ctx, tx, row, err); err != nil {
			return fmt.Errorf("record a refusal: %w", err)
		}
		tx.Announce(topic(uploadID))
		if fetch == nil {
			return nil
		}
		return lease.Finish(ctx, tx, *fetch)
	})
}

// topic is announced when the file of an upload arrives or is refused.
func topic(uploadID string) string { return "upload:" + uploadID }

// ListenArrival signals when the file of an awaited upload arrives or is refused.
// Call stop to end it.
func (in *Intake) ListenArrival(uploadID string) (wake <-chan struct{}, stop func()) {
	return in.DB.Listen(topic(uploadID))
}

// keepAwaited is how long an awaited upload stays readable after its end, so that an
// agent that comes back the next day still learns why a file was refused.
const keepAwaited = 24 * time.Hour

// Forget deletes awaited uploads that are older than keepAwaited after their end, and
// returns how many. Uploads that have arrived stay: only the record of the waiting
// goes. One that is still being fetched is left for the next call.
func Forget(ctx context.Context, d *db.DB) (n int64, err error) {
	err = d.Write(ctx, func(tx *db.Tx) (err error) {
		n, err = tx.AwaitedForget(ctx, tx.Now-keepAwaited.Microseconds())
		return err
	})
	return n, err
}
