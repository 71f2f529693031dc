package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/render/settings"
	"svc.example/internal/work/project"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/receipt/receiptlog"
)

// A receipt lists every file of its project and names its own leaf of the log. It can have 20 MB,
// which take a second to write and sign, and on SQLite every other write waits for the
// transaction that completes the job. So it is signed before, for the leaf that comes next. If
// another receipt takes that leaf, a short one is signed again in the transaction, and a long
// one before another try.

const (
	mostSignedWaiting = 256 << 10 // bytes of a receipt that is signed in the transaction
	mostSignings      = 4         // the last one is signed in the transaction, however long it is
)

// errLeafTaken means that the log or its key has changed since a long receipt was signed.
var errLeafTaken = errors.New("the log has grown meanwhile")

// signedReceipt is the receipt of a job that is about to complete.
type signedReceipt struct {
	receipt  receipt.Receipt
	envelope json.RawMessage // as key signed it for leaf index
	entry    receipt.Entry   // of the log, for envelope
	key      signingkey.Key
	index    int64
	must     bool // it is signed again in the transaction if it has to be
}

// sign makes the receipt of a job that is being packed, for the leaf that the log adds next.
// Error: errPackedTwice, wrapped.
func (j *Jobs) sign(ctx context.Context, jobID string, a Artifact) (s signedReceipt, err error) {
	err = j.DB.Read(ctx, func(tx *db.Tx) error {
		job, err := Read(ctx, tx, jobID)
		if err != nil {
			return err
		}
		if Status(job.Status) != Packaging {
			return fmt.Errorf("complete %s: %w", job.JobID, errPackedTwice)
		}
		s.receipt = receiptOf(job, a, tx.Time())
		s.receipt.Test = j.Test
		if s.receipt.Settings, err = settings.Read(job.Settings); err != nil {
			return err
		}
		if s.receipt.Input, err = inputOf(ctx, tx, job); err != nil {
			return err
		}
		if s.receipt.OCIO, err = s.receipt.Input.ConfigOf(s.receipt.Settings.OCIO); err != nil {
			return err
		}
		head, err := receiptlog.Head(ctx, tx)
		if err != nil {
			return err
		}
		s.index = head.Size
		s.key, err = j.Keys.Current(ctx, tx)
		return err
	})
	if err != nil {
		return s, err
	}
	return s, s.seal()
}

// seal signs the receipt with the key, for the leaf.
func (s *signedReceipt) seal() error {
	r, err := s.receipt, error(nil)
	r.LogIndex = &s.index
	if r, err = receipt.WithFrameSet(r, s.key); err != nil {
		return err
	}
	if s.envelope, err = receipt.Sign(r, s.key); err != nil {
		return fmt.Errorf("sign receipt: %w", err)
	}
	s.entry, err = receipt.EntryOf(s.envelope)
	return err
}

// log appends the receipt of a job that completes to the log and stores it. Error: errLeafTaken.
func (j *Jobs) log(ctx context.Context, tx *db.Tx, s signedReceipt) error {
	_, err := receiptlog.Append(ctx, tx, func(index int64) (receipt.Entry, error) {
		key, err := j.Keys.CurrentAt(ctx, tx, index)
		if err != nil {
			return receipt.Entry{}, err
		}
		if s.index != index || s.key.Public().ID() != key.Public().ID() {
			if len(s.envelope) > mostSignedWaiting && !s.must {
				return receipt.Entry{}, errLeafTaken
			}
			s.index, s.key = index, key
			if err := s.seal(); err != nil {
				return receipt.Entry{}, err
			}
		}
		return keepReceipt(ctx, tx, s)
	})
	return err
}

// inputOf is what a job has rendered: the upload is there until long after its last job.
func inputOf(ctx context.Context, tx *db.Tx, job Record) (receipt.Input, error) {
	m, err := project.ManifestOf(ctx, tx, job.UploadID)
	if err != nil {
		return receipt.Input{}, err
	}
	var files []receipt.InputFile
	for _, f := range m.Files {
		files = append(files, receipt.InputFile{Path: f.Path, SHA256: f.SHA256, SizeBytes: f.SizeBytes})
	}
	return receipt.InputOf(mainFile(job), files), nil
}

// mainFile is the .blend that a job renders.
func mainFile(job Record) receipt.File {
	return receipt.File{Filename: job.Filename, SHA256: job.InputSha256, SizeBytes: job.InputSizeBytes}
}

// receiptOf makes the receipt of a job that completes now, without its input and its place
// in the log. job is the row before the change to completed, so its ChargedCents is not set
// yet; the price is what the transaction captures.
func receiptOf(job Record, a Artifact, completed time.Time) receipt.Receipt {
	return receipt.Receipt{
		ReceiptID: id.New(id.Receipt), JobID: job.JobID, WorkspaceID: job.WorkspaceID,
		Artifact:   a.File,
		FrameStart: int(job.FrameStart), FrameEnd: int(job.FrameEnd), FrameStep: int(job.FrameStep), FrameCount: int(job.FrameCount),
		FrameList: job.Frames, Frames: a.Frames, Renderer: a.Renderer, RenderDevice: a.Device, DeviceName: a.DeviceName, Switched: a.Switched,
		RenderSeconds: seconds(job.RenderUs), QuoteID: job.QuoteID, PricingVersion: job.PricingVersion,
		ChargedCents: job.PriceCents, Currency: contract.Currency,
		StartedAt: db.Time(job.ClaimedAt), CompletedAt: completed,
	}
}

// keepReceipt stores the receipt and returns its entry for the log. The envelope is stored as
// signed: a verifier needs the same bytes, and signing it again later would take a key that may
// have ended.
func keepReceipt(ctx context.Context, tx *db.Tx, s signedReceipt) (receipt.Entry, error) {
	r := s.receipt
	err := tx.ReceiptCreate(ctx, query.ReceiptCreateParams{
		ReceiptID: r.ReceiptID, JobID: r.JobID, WorkspaceID: r.WorkspaceID, KeyID: s.key.Public().ID(),
		Envelope: string(s.envelope), CreatedAt: db.Micros(r.CompletedAt),
	})
	if err != nil {
		return receipt.Entry{}, fmt.Errorf("keep receipt: %w", err)
	}
	return s.entry, nil
}
