package audit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/work/job"
	"svc.example/internal/work/receipt"
)

// completed is a completed job with its receipt. Both rows come from the one transaction.
type completed struct {
	job     job.Record
	receipt query.Receipt
}

// collectCompleted reads completed jobs page by page. One without a receipt is left out:
// job.Audit reports it. Pages bound the rows of one query; the result is kept whole,
// because the receipts are opened after the transaction.
func (a *auditor) collectCompleted(ctx context.Context, tx *db.Tx) error {
	after := ""
	for {
		rows, err := tx.JobIDs(ctx, after)
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, r := range rows {
			after = r.JobID
			if job.Status(r.Status) != job.Completed {
				continue
			}
			c := completed{}
			if c.job, err = tx.JobGet(ctx, r.JobID); err != nil {
				return err
			}
			c.receipt, err = tx.ReceiptByJob(ctx, r.JobID)
			if db.IsNotFound(err) {
				continue
			}
			if err != nil {
				return err
			}
			a.completed = append(a.completed, c)
		}
	}
}

// receipt checks that a receipt is signed by a published key, agrees with its job and is
// the leaf of the log that it names. Signatures need no row, so this runs outside the
// transaction.
func (a *auditor) receipt(c completed) {
	a.Receipts++
	r, err := receipt.Open([]byte(c.receipt.Envelope), a.keys)
	if err != nil {
		a.breach("receipts are signed by our keys", c.receipt.ReceiptID, "%v", err)
		return
	}
	if r.JobID != c.job.JobID || r.Artifact.SHA256 != c.job.ArtifactSha256 || r.ChargedCents != c.job.ChargedCents || len(r.Frames) != int(c.job.FrameCount) {
		a.breach("a receipt agrees with its job", c.receipt.ReceiptID, "receipt and job %s differ", c.job.JobID)
	}
	a.leaf(c.receipt, r)
}

// artifact checks that a completed job's ZIP is on disk with the hash of its receipt.
// After its retention there is none to check. A file that cannot be opened is a breach;
// one that fails while it is read is an error.
func (a *auditor) artifact(ctx context.Context, blobs blob.Store, record job.Record) error {
	if record.ArtifactRemovedAt != 0 {
		return nil
	}
	file, err := blobs.Open(ctx, record.ArtifactKey)
	if err != nil {
		a.breach("completed means the artifact is there", record.JobID, "%v", err)
		return nil
	}
	defer func() { _ = file.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != record.ArtifactSha256 {
		a.breach("the artifact is what the receipt says", record.JobID, "on disk %s, receipt %s", got, record.ArtifactSha256)
	}
	return nil
}

// liveFiles checks that a job which has not ended has its input and its accepted frames on
// disk. Such as after a restore of a database without the files of its time, they may be
// gone. It opens files and does not hash them: the worker that fetches an input compares
// its hash, and packing compares those of frames.
func (a *auditor) liveFiles(ctx context.Context, d *db.DB, blobs blob.Store) error {
	var missing []query.AuditLiveFilesRow
	for _, n := range a.needed {
		file, err := blobs.Open(ctx, n.BlobKey)
		switch {
		case err == nil:
			_ = file.Close()
		case errors.Is(err, blob.ErrNotFound):
			missing = append(missing, n)
		default:
			return err
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return d.Read(ctx, func(tx *db.Tx) error { return a.stillNeeded(ctx, tx, missing) })
}

// stillNeeded reports the missing files of jobs that still have not ended: the others
// ended after rows were read, and their files were removed rightly.
func (a *auditor) stillNeeded(ctx context.Context, tx *db.Tx, missing []query.AuditLiveFilesRow) error {
	rows, err := tx.AuditLiveFiles(ctx)
	if err != nil {
		return err
	}
	needed := map[query.AuditLiveFilesRow]bool{}
	for _, n := range rows {
		needed[n] = true
	}
	for _, n := range missing {
		if needed[n] {
			a.breach("a job that goes on has its files", n.JobID, "%s is not there", n.BlobKey)
		}
	}
	return nil
}
