package job

import (
	"context"
	"errors"
	"fmt"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/receipt/receiptlog"
	"svc.example/internal/work/wallet"
)

// Artifact describes a packed ZIP and its contents.
type Artifact struct {
	Key  string // of the blob
	File receipt.File
	// Frames are in the order of their numbers.
	Frames     []receipt.Frame
	Renderer   receipt.Renderer // what rendered them
	Device     string           // "GPU" only when every frame was rendered on one
	DeviceName string
	Switched   []string // settings that workers changed to be able to render
}

// errPackedTwice means that another process has completed the job.
var errPackedTwice = errors.New("the job is no longer in packaging")

// Complete is the one transaction in which a job becomes completed: capture, receipt, its
// leaf in the log, event and state, all or nothing. It finishes l, the lease of
// PackageQueue. The leaf comes last because it locks the log for every completion until
// the commit.
func (j *Jobs) Complete(ctx context.Context, l lease.Lease, a Artifact) error {
	return j.DB.Write(ctx, func(tx *db.Tx) error {
		job, err := Lock(ctx, tx, l.Subject)
		if err != nil {
			return err
		}
		if Status(job.Status) != Packaging {
			return fmt.Errorf("complete %s: %w", job.JobID, errPackedTwice)
		}
		if err := lease.Finish(ctx, tx, l.Ref()); err != nil {
			return err
		}
		if err := change(ctx, tx, job.JobID, Packaging, Completed); err != nil {
			return err
		}
		err = tx.JobCompleted(ctx, query.JobCompletedParams{
			ChargedCents: job.PriceCents, ArtifactKey: a.Key, ArtifactFilename: a.File.Filename, ArtifactSha256: a.File.SHA256, ArtifactSize: a.File.SizeBytes,
			RenderDevice: a.Device, DeviceName: a.DeviceName, BlenderVersion: a.Renderer.Version, Now: tx.Now, JobID: job.JobID,
		})
		if err != nil {
			return fmt.Errorf("complete job: %w", err)
		}
		if err := wallet.Capture(ctx, tx, job.WorkspaceID, job.JobID, job.PriceCents); err != nil {
			return err
		}
		if err := scheduleFrameRemoval(ctx, tx, job.JobID); err != nil {
			return err
		}
		if err := lease.Add(ctx, tx, lease.ExpireQueue, expiry(ExpireArtifact, job.JobID), 0, tx.Time().Add(j.ArtifactLife)); err != nil {
			return err
		}
		if err := j.publishEnd(ctx, tx, job.JobID); err != nil {
			return err
		}
		key, err := j.Keys.Current(ctx, tx)
		if err != nil {
			return err
		}
		_, err = receiptlog.Append(ctx, tx, func(index int64) (receipt.Entry, error) {
			r := receiptOf(job, a, tx.Time())
			r.LogIndex = &index
			return keepReceipt(ctx, tx, r, key)
		})
		return err
	})
}

// FailPackaging fails a job whose frames cannot be packed, and finishes l, its lease of
// PackageQueue, in the same transaction.
func (j *Jobs) FailPackaging(ctx context.Context, l lease.Lease) error {
	return j.DB.Write(ctx, func(tx *db.Tx) error {
		job, err := Lock(ctx, tx, l.Subject)
		if err != nil {
			return err
		}
		if err := lease.Finish(ctx, tx, l.Ref()); err != nil {
			return err
		}
		return j.Fail(ctx, tx, job, fault.PackagingFailed, "The frames could not be packed.")
	})
}

// RemoveArtifact records that the retention of a job's ZIP is over and returns the key of
// its blob, which the caller deletes after the commit. Error: render_not_found.
func RemoveArtifact(ctx context.Context, tx *db.Tx, jobID string) (key string, err error) {
	job, err := Lock(ctx, tx, jobID)
	if err != nil {
		return "", err
	}
	if err := tx.JobArtifactRemoved(ctx, query.JobArtifactRemovedParams{Now: tx.Now, JobID: jobID}); err != nil {
		return "", fmt.Errorf("expire artifact: %w", err)
	}
	return job.ArtifactKey, nil
}

// receiptOf makes the receipt of a job that completes now.
func receiptOf(job Record, a Artifact, completed time.Time) receipt.Receipt {
	return receipt.Receipt{
		ReceiptID: id.New(id.Receipt), JobID: job.JobID, WorkspaceID: job.WorkspaceID,
		Input:      receipt.File{Filename: job.Filename, SHA256: job.InputSha256, SizeBytes: job.InputSizeBytes},
		Artifact:   a.File,
		FrameStart: int(job.FrameStart), FrameEnd: int(job.FrameEnd), FrameStep: int(job.FrameStep), FrameCount: int(job.FrameCount),
		Frames: a.Frames, Renderer: a.Renderer, RenderDevice: a.Device, DeviceName: a.DeviceName, Switched: a.Switched,
		RenderSeconds: seconds(job.RenderUs), QuoteID: job.QuoteID, PricingVersion: job.PricingVersion,
		ChargedCents: job.PriceCents, Currency: contract.Currency,
		StartedAt: db.Time(job.ClaimedAt), CompletedAt: completed,
	}
}

// keepReceipt signs and stores the receipt and returns its entry for the log. The
// envelope is stored as signed: a verifier needs the same bytes.
func keepReceipt(ctx context.Context, tx *db.Tx, r receipt.Receipt, key receipt.Key) (receipt.Entry, error) {
	envelope, err := receipt.Sign(r, key)
	if err != nil {
		return receipt.Entry{}, fmt.Errorf("sign receipt: %w", err)
	}
	err = tx.ReceiptCreate(ctx, query.ReceiptCreateParams{
		ReceiptID: r.ReceiptID, JobID: r.JobID, WorkspaceID: r.WorkspaceID, KeyID: key.Public().ID(),
		Envelope: string(envelope), CreatedAt: tx.Now,
	})
	if err != nil {
		return receipt.Entry{}, fmt.Errorf("keep receipt: %w", err)
	}
	return receipt.EntryOf(envelope)
}
