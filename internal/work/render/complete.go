package render

import (
	"context"
	"fmt"
	"strings"
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

// complete is the one transaction in which a job becomes completed: capture,
// receipt, its leaf in the log, event and state, all or nothing. The leaf comes last:
// the log stays locked, for every completion anywhere, until the commit.
func (j *Jobs) complete(ctx context.Context, l lease.Lease, seen query.Job, frames []query.Frame, a artifact) error {
	return j.DB.Write(ctx, func(tx *db.Tx) error {
		job, err := lock(ctx, tx, seen.JobID)
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
		device, name := deviceOf(frames), several(frames, func(f query.Frame) string { return f.DeviceName })
		err = tx.JobCompleted(ctx, query.JobCompletedParams{
			ChargedCents: job.PriceCents, ArtifactKey: a.key, ArtifactFilename: a.filename, ArtifactSha256: a.sha256, ArtifactSize: a.size,
			RenderDevice: device, DeviceName: name, BlenderVersion: rendererOf(frames).Version, Now: tx.Now, JobID: job.JobID,
		})
		if err != nil {
			return fmt.Errorf("complete job: %w", err)
		}
		if err := wallet.Capture(ctx, tx, job.WorkspaceID, job.JobID, job.PriceCents); err != nil {
			return err
		}
		if err := clearFramesLater(ctx, tx, job.JobID); err != nil {
			return err
		}
		if err := lease.Add(ctx, tx, lease.ExpireQueue, "artifact/"+job.JobID, 0, tx.Time().Add(j.ArtifactLife)); err != nil {
			return err
		}
		if err := j.tell(ctx, tx, job.JobID); err != nil {
			return err
		}
		key, err := j.Keys.Current(ctx, tx)
		if err != nil {
			return err
		}
		_, err = receiptlog.Append(ctx, tx, func(index int64) (receipt.Entry, error) {
			r := receiptOf(job, frames, a, tx.Time())
			r.LogIndex = &index
			return keepReceipt(ctx, tx, r, key)
		})
		return err
	})
}

// receiptOf says what was done.
func receiptOf(job query.Job, frames []query.Frame, a artifact, completed time.Time) receipt.Receipt {
	r := receipt.Receipt{
		ReceiptID: id.New(id.Receipt), JobID: job.JobID, WorkspaceID: job.WorkspaceID,
		Input:      receipt.File{Filename: job.Filename, SHA256: job.InputSha256, SizeBytes: job.InputSizeBytes},
		Artifact:   receipt.File{Filename: a.filename, SHA256: a.sha256, SizeBytes: a.size},
		FrameStart: int(job.FrameStart), FrameEnd: int(job.FrameEnd), FrameStep: int(job.FrameStep), FrameCount: int(job.FrameCount),
		Renderer: rendererOf(frames), RenderDevice: deviceOf(frames),
		DeviceName: several(frames, func(f query.Frame) string { return f.DeviceName }),
		Switched: distinct(frames, func(f query.Frame) []string {
			return strings.FieldsFunc(f.Switched, func(r rune) bool { return r == ',' })
		}),
		RenderSeconds: seconds(job.RenderUs), QuoteID: job.QuoteID, PricingVersion: job.PricingVersion,
		ChargedCents: job.PriceCents, Currency: contract.Currency,
		StartedAt: db.Time(job.ClaimedAt), CompletedAt: completed,
	}
	for _, f := range frames {
		r.Frames = append(r.Frames, receipt.Frame{
			Frame: int(f.Frame), File: f.File, SHA256: f.Sha256, PixelSHA256: f.PixelSha256, SizeBytes: f.SizeBytes, RenderSeconds: seconds(f.RenderUs), Finding: f.Finding,
		})
	}
	return r
}

// keepReceipt signs and keeps the receipt, and gives what the log holds of it.
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

// Download tells where and how a completed job's ZIP is fetched.
type Download struct {
	URL         string    `json:"url" doc:"Answers GET and HEAD with Range; authorises itself until expires_at."`
	Filename    string    `json:"filename"`
	ContentType string    `json:"content_type"`
	SizeBytes   int64     `json:"size_bytes"`
	SHA256      string    `json:"sha256"`
	ExpiresAt   time.Time `json:"expires_at"`
}

// Download reads a completed job with its download. Errors: render_not_found,
// render_not_completed, artifact_expired.
func (j *Jobs) Download(ctx context.Context, workspaceID, jobID string) (o Object, d Download, err error) {
	err = j.DB.Read(ctx, func(tx *db.Tx) error {
		job, err := j.completed(ctx, tx, workspaceID, jobID)
		if err != nil {
			return err
		}
		if job.ArtifactRemovedAt != 0 {
			return fault.New(fault.ArtifactExpired, "The artifact was removed at %s.", db.Time(job.ArtifactRemovedAt).Format(time.RFC3339))
		}
		if o, err = j.object(ctx, tx, jobID); err != nil {
			return err
		}
		d = Download{
			URL: *o.DownloadURL, Filename: job.ArtifactFilename, ContentType: "application/zip",
			SizeBytes: job.ArtifactSize, SHA256: job.ArtifactSha256,
			ExpiresAt: tx.Time().Add(contract.DownloadLifetime).Truncate(time.Second),
		}
		return nil
	})
	return o, d, err
}

// Artifact is a ZIP as the download route needs it.
type Artifact struct {
	Key       string
	Filename  string
	SHA256    string
	Completed time.Time
}

// Artifact finds the ZIP behind a signed link. Errors: unauthenticated,
// render_not_found, artifact_expired.
func (j *Jobs) Artifact(ctx context.Context, jobID, expires, signature string) (a Artifact, err error) {
	err = j.DB.Read(ctx, func(tx *db.Tx) error {
		if err := j.Links.CheckDownload(jobID, expires, signature, tx.Time()); err != nil {
			return err
		}
		job, err := tx.JobGet(ctx, jobID)
		if db.IsNotFound(err) {
			return notFound(jobID)
		}
		if err != nil {
			return fmt.Errorf("read job: %w", err)
		}
		if job.ArtifactRemovedAt != 0 {
			return fault.New(fault.ArtifactExpired, "The artifact is past its retention.")
		}
		a = Artifact{job.ArtifactKey, job.ArtifactFilename, job.ArtifactSha256, db.Time(job.CompletedAt)}
		return nil
	})
	return a, err
}

func (j *Jobs) completed(ctx context.Context, tx *db.Tx, workspaceID, jobID string) (query.Job, error) {
	job, err := find(ctx, tx, workspaceID, jobID)
	if err == nil && Status(job.Status) != Completed {
		refused := fault.New(fault.RenderNotCompleted, "The render is %s.", job.Status)
		if Status(job.Status).Terminal() {
			refused = refused.NotRetryable().WithAction("Read the job's failure; this render will not complete.")
		}
		return job, refused
	}
	return job, err
}
