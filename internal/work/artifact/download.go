package artifact

import (
	"context"
	"time"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/job"
	"svc.example/internal/work/result"
)

// Download describes a completed job's ZIP and where to fetch it. The URL needs no key:
// anyone who has it may fetch the file until ExpiresAt.
type Download struct {
	URL         string    `json:"url" doc:"Answers GET and HEAD with Range; authorises itself until expires_at."`
	Filename    string    `json:"filename"`
	ContentType string    `json:"content_type"`
	SizeBytes   int64     `json:"size_bytes"`
	SHA256      string    `json:"sha256"`
	ExpiresAt   time.Time `json:"expires_at"`
}

// Download reads a completed job with its download. Errors: render_not_found,
// render_not_completed, artifact_expired. It opens no file: a ZIP that is missing although
// its row promises it shows when it is fetched.
func (a *Artifacts) Download(ctx context.Context, workspaceID, jobID string) (o job.Object, d Download, err error) {
	err = a.DB.Read(ctx, func(tx *db.Tx) error {
		record, err := job.FindCompleted(ctx, tx, workspaceID, jobID)
		if err != nil {
			return err
		}
		if record.ArtifactRemovedAt != 0 {
			return fault.New(fault.ArtifactExpired, "The artifact was removed at %s.", db.Time(record.ArtifactRemovedAt).Format(time.RFC3339))
		}
		if o, err = a.Jobs.Object(ctx, tx, jobID); err != nil {
			return err
		}
		d = Download{
			URL: *o.DownloadURL, Filename: record.ArtifactFilename, ContentType: "application/zip",
			SizeBytes: record.ArtifactSize, SHA256: record.ArtifactSha256,
			ExpiresAt: tx.Time().Add(contract.DownloadLifetime).Truncate(time.Second),
		}
		return nil
	})
	return o, d, err
}

// ZIP is an artifact that the download route sends. All of it comes from the job's row,
// none from the link. The caller closes it.
type ZIP struct {
	blob.Reader
	Filename  string
	SHA256    string // of the ZIP, hex
	Completed time.Time
}

// linkLife is how long a link to the store can be used to begin a download: a client
// that resumes one asks here again.
const linkLife = 10 * time.Minute

// Link returns the address of the ZIP of a signed link in the store itself, "" if the
// store gives callers none. The client that fetches it compares it with its hash.
// Errors: unauthenticated, render_not_found, artifact_expired.
func (a *Artifacts) Link(ctx context.Context, jobID, expires, signature string) (string, error) {
	store := blob.ToCallers(a.Blobs)
	if store == nil {
		return "", nil
	}
	record, err := a.linked(ctx, jobID, expires, signature)
	if err != nil {
		return "", err
	}
	if record.ArtifactRemovedAt != 0 {
		return "", result.Removed()
	}
	return store.GetLink(ctx, record.ArtifactKey, blob.Served{Name: record.ArtifactFilename, Type: "application/zip"}, linkLife)
}

// Open opens the ZIP of a signed link. It checks the signature first, so that a caller
// without a valid link learns nothing about the job. The bytes are those of the receipt:
// the first download in each process reads the whole ZIP before its first byte is sent.
// Errors: unauthenticated, render_not_found, artifact_expired, result_damaged.
func (a *Artifacts) Open(ctx context.Context, jobID, expires, signature string) (z ZIP, err error) {
	record, err := a.linked(ctx, jobID, expires, signature)
	if err != nil {
		return z, err
	}
	r, err := result.OpenZIP(ctx, a.Whole, a.Blobs, record)
	return ZIP{r, record.ArtifactFilename, record.ArtifactSha256, db.Time(record.CompletedAt)}, err
}

// linked reads the job of a signed link. Errors: unauthenticated, render_not_found.
func (a *Artifacts) linked(ctx context.Context, jobID, expires, signature string) (record job.Record, err error) {
	err = a.DB.Read(ctx, func(tx *db.Tx) (err error) {
		if err := a.Links.CheckDownload(jobID, expires, signature, tx.Time()); err != nil {
			return err
		}
		record, err = job.Read(ctx, tx, jobID)
		return err
	})
	return record, err
}
