// Package intake receives a .blend. It limits, hashes, stores and inspects the file
// in one pass, and answers with a locked quote.
//
// What always holds: a file is never in memory as a whole. A refused or broken upload
// leaves nothing behind. An acknowledged upload is durable, and its quote is locked
// in the same transaction. Intake spends no money.
//
// It leaves the file format to blendfile, the price to quote, the files of an upload
// to project, and starting a job to job. Start reading at Intake.Receive.
package intake

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"path"
	"strings"
	"unicode"

	"svc.example/internal/ground/blendfile"
	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/lease"
	"svc.example/internal/ground/outbound"
	"svc.example/internal/work/project"
	"svc.example/internal/work/quote"
)

// Intake receives uploads. Every field is required. Safe for concurrent use.
type Intake struct {
	DB       *db.DB
	Blobs    blob.Store
	Envelope quote.Envelope // bound on a frame's work
	// Guard decides which addresses may be fetched; Fetcher fetches them within
	// FetchLimits. Only awaited uploads use them.
	Guard   *outbound.Guard
	Fetcher *http.Client
}

// Received is a complete file that can be rendered. End it with Quote or Abort, on
// every path: until then its blob is open. Not safe for concurrent use.
type Received struct {
	intake      *Intake
	workspaceID string
	uploadID    string
	filename    string
	key         string
	blob        blob.Writer
	sha256      string
	size        int64
	scene       quote.Scene
}

// Inspection is the answer of inspect: what the file asks for and what it would cost.
type Inspection struct {
	UploadID string
	Quote    quote.Quote
	Scene    quote.Scene
}

// Receive reads one file and inspects it on the way. It stores no row: a crash before
// Quote leaves only a blob that was never committed. Errors: upload_too_large,
// unsupported_file, file_damaged, file_too_new, no_scene, engine_not_supported,
// no_camera, and invalid_request when the body breaks off.
func (in *Intake) Receive(ctx context.Context, workspaceID, filename string, body io.Reader) (*Received, error) {
	return in.receive(ctx, workspaceID, id.New(id.Upload), filename, body)
}

// receive is Receive for an id that exists already. Several files may arrive for one
// id at once: each has its own blob, and the first to commit gets the id.
func (in *Intake) receive(ctx context.Context, workspaceID, uploadID, filename string, body io.Reader) (*Received, error) {
	name, err := CleanName(filename)
	if err != nil {
		return nil, err
	}
	r := &Received{intake: in, workspaceID: workspaceID, uploadID: uploadID, filename: name}
	// The key is not the upload's id: several files may arrive for one id at once, and
	// a replaced blob must never be read under the old name.
	r.key = "uploads/" + id.New(id.Upload)
	if r.blob, err = in.Blobs.Create(ctx, r.key); err != nil {
		return nil, fmt.Errorf("store upload: %w", err)
	}
	if err := r.read(body); err != nil {
		r.Abort()
		return nil, err
	}
	return r, nil
}

// read makes the single pass: body -> limit -> hash and blob -> blendfile. The limit
// comes first and blendfile last, so that no byte beyond the limit is hashed, stored or
// parsed.
func (r *Received) read(body io.Reader) error {
	// The reader counts down from the limit, so a body without a length is bounded too.
	source := &capped{body: body, left: contract.MaxUploadBytes, sum: sha256.New(), blob: r.blob}
	facts, err := blendfile.Inspect(source, blendfile.Options{})
	if err == nil {
		// The facts may be complete before the file is.
		_, err = io.Copy(io.Discard, source)
	}
	if source.err != nil {
		return source.err // the cause, whatever blendfile made of it
	}
	if err != nil {
		return refusal(err)
	}
	r.size, r.sha256 = source.size, hex.EncodeToString(source.sum.Sum(nil))
	if err := Renderable(facts); err != nil {
		return err
	}
	r.scene = sceneOf(facts)
	return nil
}

// Filename is the cleaned file name.
func (r *Received) Filename() string { return r.filename }

// SHA256 is the hash of the file's bytes, in lower-case hex.
func (r *Received) SHA256() string { return r.sha256 }

// Size is the number of bytes of the file, 1 to contract.MaxUploadBytes.
func (r *Received) Size() int64 { return r.size }

// Abort discards the file. After Quote it does nothing, so it can be deferred.
func (r *Received) Abort() { r.blob.Abort() }

// Quote makes the upload durable and locks a price for the requested frames. The step
// inTx, unless nil, runs in the same transaction; it may run twice, like every
// transaction. On an error nothing is kept. Errors: those of
// quote.RequestedFrames.Resolve and of inTx.
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
	if err := r.blob.Commit(); err != nil {
		return Inspection{}, fmt.Errorf("store upload: %w", err)
	}
	out := Inspection{UploadID: r.uploadID, Scene: r.scene}
	err = r.intake.DB.Write(ctx, func(tx *db.Tx) error {
		upload := query.UploadCreateParams{
			UploadID: r.uploadID, WorkspaceID: r.workspaceID, Filename: r.filename, Sha256: r.sha256, SizeBytes: r.size,
			Scene: string(scene), CreatedAt: tx.Now,
		}
		// The id may be an awaited upload's, for which another file has arrived
		// meanwhile. The statement then inserts nothing.
		n, err := tx.UploadCreate(ctx, upload)
		if err != nil {
			return fmt.Errorf("store upload: %w", err)
		}
		if n == 0 {
			return linkUsed() // another file for this id was faster
		}
		tx.Announce(topic(r.uploadID))
		if err := r.keep(ctx, tx); err != nil {
			return err
		}
		row, err := tx.UploadByID(ctx, r.uploadID)
		if err != nil {
			return fmt.Errorf("store upload: %w", err)
		}
		if out.Quote, err = r.intake.Envelope.Lock(ctx, tx, row, r.scene, fileWarnings(r.scene), requested); err != nil {
			return err
		}
		// Scheduled with the upload itself, so that no crash leaves one that nobody
		// removes.
		if err := lease.Add(ctx, tx, lease.ExpireQueue, ExpireUpload+"/"+r.uploadID, 0, tx.Time().Add(contract.UploadRetention)); err != nil {
			return err
		}
		if inTx == nil {
			return nil
		}
		return inTx(tx, out)
	})
	if err != nil {
		if !errors.Is(err, db.ErrUnknown) {
			// No row names the blob. If this fails, the sweep finds it.
			_ = r.intake.Blobs.Delete(context.WithoutCancel(ctx), r.key)
		}
		return Inspection{}, err
	}
	return out, nil
}

// keep creates the upload's project. If the workspace has sent the same bytes before,
// the project uses those. This blob is then removed after the answer, which must not
// wait for the deletion of a large file.
func (r *Received) keep(ctx context.Context, tx *db.Tx) error {
	kept, err := project.Keep(ctx, tx, r.workspaceID, project.Content{SHA256: r.sha256, SizeBytes: r.size, BlobKey: r.key})
	if err == nil && !kept {
		err = lease.Add(ctx, tx, lease.ExpireQueue, ExpireBlob+"/"+r.key, 0, tx.Time())
	}
	if err != nil {
		return err
	}
	return project.Create(ctx, tx, r.workspaceID, r.uploadID, project.SingleFile(r.filename, r.sha256, r.size))
}

// OpenQuote returns a quote of an upload that a job can accept, in the caller's
// transaction: the newest one while it is open, else a new one for the same frames at
// today's price. An accepted one is replaced as well, so the same upload can be
// rendered again. Errors: upload_not_found.
func (in *Intake) OpenQuote(ctx context.Context, tx *db.Tx, workspaceID, uploadID string) (quote.Quote, error) {
	upload, err := quote.Upload(ctx, tx, workspaceID, uploadID)
	if err != nil {
		return quote.Quote{}, err
	}
	q, err := newest(ctx, tx, workspaceID, uploadID)
	if err != nil || q.Status == quote.Open {
		return q, err
	}
	return in.lockAgain(ctx, tx, upload, q)
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
// the file of a removed upload.
func (in *Intake) lockAgain(ctx context.Context, tx *db.Tx, upload query.Upload, q quote.Quote) (quote.Quote, error) {
	if upload.RemovedAt != 0 {
		return q, fault.New(fault.UploadNotFound, "The upload was not started in time and is gone.")
	}
	scene, err := readScene(upload.Scene)
	if err != nil {
		return q, err
	}
	return in.Envelope.Lock(ctx, tx, upload, scene, fileWarnings(scene), quote.RequestedFrames{Start: &q.FrameStart, End: &q.FrameEnd, Step: &q.FrameStep})
}

// Inspected returns what an inspection found, with the newest quote. An expired quote
// is replaced by one at today's price; an accepted one is returned as it is. Errors:
// upload_not_found.
func (in *Intake) Inspected(ctx context.Context, workspaceID, uploadID string) (out Inspection, err error) {
	err = in.DB.Write(ctx, func(tx *db.Tx) error {
		upload, err := quote.Upload(ctx, tx, workspaceID, uploadID)
		if err != nil {
			return err
		}
		out = Inspection{UploadID: uploadID}
		if out.Scene, err = readScene(upload.Scene); err != nil {
			return err
		}
		if out.Quote, err = newest(ctx, tx, workspaceID, uploadID); err != nil || out.Quote.Status != quote.Expired {
			return err
		}
		out.Quote, err = in.lockAgain(ctx, tx, upload, out.Quote)
		return err
	})
	return out, err
}

// Requote locks a price for other frames of an upload, in the caller's transaction. It
// reads the scene that inspect stored, not the file. Older quotes stay as they are.
// Errors: upload_not_found and those of quote.RequestedFrames.Resolve.
func (in *Intake) Requote(ctx context.Context, tx *db.Tx, workspaceID, uploadID string, requested quote.RequestedFrames) (Inspection, error) {
	upload, err := quote.Upload(ctx, tx, workspaceID, uploadID)
	if err != nil {
		return Inspection{}, err
	}
	if upload.RemovedAt != 0 {
		return Inspection{}, fault.New(fault.UploadNotFound, "The upload was not started in time and is gone.")
	}
	kept, err := readScene(upload.Scene)
	if err != nil {
		return Inspection{}, err
	}
	q, err := in.Envelope.Lock(ctx, tx, upload, kept, fileWarnings(kept), requested)
	return Inspection{UploadID: uploadID, Scene: kept, Quote: q}, err
}

// capped passes on at most left bytes, and hashes and stores them on the way. After the
// first error it returns that error for ever, so that no reader goes on behind a gap.
type capped struct {
	body io.Reader
	left int64
	size int64
	sum  hash.Hash
	blob io.Writer
	err  error // why reading stopped before the end
}

func (c *capped) Read(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.body.Read(p)
	// More than the limit was read: the surplus is neither hashed nor stored.
	if int64(n) > c.left {
		c.err = TooLarge()
		return 0, c.err
	}
	c.left -= int64(n)
	c.size += int64(n)
	c.sum.Write(p[:n]) // never fails
	if _, werr := c.blob.Write(p[:n]); werr != nil {
		c.err = fmt.Errorf("store upload: %w", werr)
		return 0, c.err
	}
	if err != nil && err != io.EOF {
		c.err = fault.New(fault.InvalidRequest, "The upload broke off after %d bytes.", c.size).Wrap(err)
		// A body that knows its own reason, such as a fetched one, keeps it.
		if f, ok := errors.AsType[*fault.Error](err); ok {
			c.err = f
		}
		return n, c.err
	}
	return n, err
}

// TooLarge is the error of a file above the limit of contract.MaxUploadBytes (spec 4.1
// rule 3). The doors return it too, when a request's own length is enough to refuse it.
func TooLarge() error {
	return fault.New(fault.UploadTooLarge, "The file is larger than %d bytes.", contract.MaxUploadBytes)
}

// maxNameBytes is the limit of common file systems for one name, in bytes.
const maxNameBytes = 255

// CleanName returns the last element of a caller's file name without control
// characters. The name appears in receipts and becomes a file on a worker, so it never
// contains a folder. It ends with .blend in any case and has at most 255 bytes. Errors:
// unsupported_file.
func CleanName(filename string) (string, error) {
	name := path.Base(strings.ReplaceAll(filename, `\`, "/"))
	name = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, name))
	// A name that is nothing but the extension would give a hidden file.
	if !strings.HasSuffix(strings.ToLower(name), contract.InputExtension) || len(name) == len(contract.InputExtension) || len(name) > maxNameBytes {
		return "", fault.New(fault.UnsupportedFile, "The file's name must end with %s and have at most %d bytes; it is %q.",
			contract.InputExtension, maxNameBytes, name)
	}
	return name, nil
}
