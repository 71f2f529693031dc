package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"svc.example/internal/work/result"
	"time"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/digest"
	"svc.example/internal/work/job"
)

// artifacts checks that the ZIP of each completed job is on disk with the hash of its
// receipt. It reads rows page by page, in transactions of their own: a ZIP takes long to
// read, and one that expired meanwhile is no breach.
func (a *auditor) artifacts(ctx context.Context, d *db.DB, blobs blob.Store) error {
	var done int64
	for after := ""; ; {
		var rows []query.AuditArtifactsRow
		err := d.Read(ctx, func(tx *db.Tx) (err error) {
			rows, err = tx.AuditArtifacts(ctx, after)
			return err
		})
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, row := range rows {
			if err := a.artifact(ctx, d, blobs, row); err != nil {
				return err
			}
			done++
			a.progress("artifacts", done, max(done, a.sizes.Artifacts))
		}
		after = rows[len(rows)-1].JobID
	}
}

// artifact checks one ZIP. What cannot be read is a breach, unless the job has lost its
// artifact meanwhile.
func (a *auditor) artifact(ctx context.Context, d *db.DB, blobs blob.Store, row query.AuditArtifactsRow) error {
	hash, size, err := digestOf(ctx, blobs, row.ArtifactKey)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil && hash == row.ArtifactSha256 && size == row.ArtifactSize {
		return nil
	}
	kept := false
	again := d.Read(ctx, func(tx *db.Tx) error {
		record, err := tx.JobGet(ctx, row.JobID)
		kept = err == nil && record.ArtifactRemovedAt == 0
		return err
	})
	switch {
	case again != nil && !db.IsNotFound(again):
		return again
	case !kept:
	case err != nil:
		a.breach("completed means the artifact is there", row.JobID, "%v", err)
	default:
		a.breach("the artifact is what the receipt says", row.JobID, "on disk %s of %d bytes, receipt %s of %d", hash, size, row.ArtifactSha256, row.ArtifactSize)
	}
	return nil
}

// previews checks that the picture of each preview that is shown is on disk. A preview that
// expires meanwhile is no breach.
func (a *auditor) previews(ctx context.Context, d *db.DB, blobs blob.Store) error {
	for after := ""; ; {
		var rows []query.AuditPreviewPicturesRow
		err := d.Read(ctx, func(tx *db.Tx) (err error) {
			rows, err = tx.AuditPreviewPictures(ctx, after)
			return err
		})
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, row := range rows {
			hash, size, err := digestOf(ctx, blobs, row.BlobKey)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err == nil && hash == row.Sha256 && size == row.SizeBytes {
				continue
			}
			shown := false
			again := d.Read(ctx, func(tx *db.Tx) error {
				p, err := tx.PreviewGet(ctx, row.PreviewID)
				shown = err == nil && p.BlobKey == row.BlobKey
				return err
			})
			switch {
			case again != nil && !db.IsNotFound(again):
				return again
			case shown:
				a.breach("a preview that is shown has its picture", row.PreviewID, "on disk %s of %d bytes, its row says %s of %d: %v", hash, size, row.Sha256, row.SizeBytes, err)
			}
		}
		after = rows[len(rows)-1].PreviewID
	}
}

// challenges checks that the picture of each answered benchmark challenge is on disk.
func (a *auditor) challenges(ctx context.Context, d *db.DB, blobs blob.Store) error {
	for after := ""; ; {
		var rows []query.AuditChallengePicturesRow
		err := d.Read(ctx, func(tx *db.Tx) (err error) {
			rows, err = tx.AuditChallengePictures(ctx, after)
			return err
		})
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, row := range rows {
			hash, size, err := digestOf(ctx, blobs, row.FrameKey)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil || hash != row.FrameSha256 || size != row.FrameBytes {
				a.breach("the picture of a challenge is kept", row.ChallengeID, "on disk %s of %d bytes, its row says %s of %d: %v", hash, size, row.FrameSha256, row.FrameBytes, err)
			}
		}
		after = rows[len(rows)-1].ChallengeID
	}
}

// overviews checks that the kept overviews of completed jobs are what their keys say. One
// that is removed meanwhile is not a breach, and neither is a missing one: it is made
// again.
func (a *auditor) overviews(ctx context.Context, blobs blob.Store) error {
	return blobs.List(ctx, "overviews/", func(key string, _ time.Time) error {
		hash, size, err := digestOf(ctx, blobs, key)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, blob.ErrNotFound):
		case err != nil || hash != result.SumOf(key):
			a.breach("a kept overview is what its key says", key, "on disk %s of %d bytes: %v", hash, size, err)
		}
		return nil
	})
}

// digestOf hashes a blob. It ends with ctx.
func digestOf(ctx context.Context, blobs blob.Store, key string) (hash string, size int64, err error) {
	file, err := blobs.Open(ctx, key)
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = file.Close() }()
	hash, err = digest.Of(until{ctx, file})
	return hash, file.Size(), err
}

// until reads until ctx ends.
type until struct {
	ctx context.Context
	io.Reader
}

func (u until) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.Reader.Read(p)
}

// liveFiles checks that a job which has not ended has its input and its accepted frames on
// disk. They may be gone, for example after a restore of a database without its files. It
// opens files and does not hash them: the worker that fetches an input compares its hash,
// and packing compares those of frames.
func (a *auditor) liveFiles(ctx context.Context, d *db.DB, blobs blob.Store) error {
	for after := ""; ; {
		var jobs []string
		err := d.Read(ctx, func(tx *db.Tx) (err error) {
			jobs, err = tx.AuditLiveJobs(ctx, after)
			return err
		})
		if err != nil || len(jobs) == 0 {
			return err
		}
		for _, jobID := range jobs {
			if err := a.filesOf(ctx, d, blobs, jobID); err != nil {
				return err
			}
		}
		after = jobs[len(jobs)-1]
	}
}

// filesOf checks the files of one job, a page of frames at a time.
func (a *auditor) filesOf(ctx context.Context, d *db.DB, blobs blob.Store, jobID string) error {
	var content []query.AuditLiveContentRow
	var outputs []query.FrameOutputsOfRow
	err := d.Read(ctx, func(tx *db.Tx) (err error) {
		if content, err = tx.AuditLiveContent(ctx, jobID); err == nil {
			outputs, err = tx.FrameOutputsOf(ctx, jobID)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, o := range outputs {
		if o.BlobKey == "" {
			continue // likewise below: its frame was taken over
		}
		if err := a.file(ctx, d, blobs, jobID, o.BlobKey, o.SizeBytes); err != nil {
			return err
		}
	}
	for _, c := range content {
		if err := a.file(ctx, d, blobs, jobID, c.BlobKey, c.SizeBytes); err != nil {
			return err
		}
	}
	for after := int64(0); ; {
		var rows []query.AuditLiveFramesRow
		err := d.Read(ctx, func(tx *db.Tx) (err error) {
			rows, err = tx.AuditLiveFrames(ctx, query.AuditLiveFramesParams{JobID: jobID, After: after})
			return err
		})
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, f := range rows {
			if f.Origin != "" {
				continue // its bytes are in the ZIP of another job, which is kept for this one
			}
			if err := a.file(ctx, d, blobs, jobID, f.BlobKey, f.SizeBytes); err != nil {
				return err
			}
		}
		after = rows[len(rows)-1].Frame
	}
}

// file checks that a file of a job is there with its size. A job that ended meanwhile does
// not need it any more.
func (a *auditor) file(ctx context.Context, d *db.DB, blobs blob.Store, jobID, key string, size int64) error {
	found, err := blobs.Open(ctx, key)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	what := "is not there"
	if err == nil {
		what = fmt.Sprintf("has %d bytes, and not %d", found.Size(), size)
		if err := found.Close(); err != nil || found.Size() == size {
			return err
		}
	}
	goesOn := false
	err = d.Read(ctx, func(tx *db.Tx) error {
		record, err := tx.JobGet(ctx, jobID)
		goesOn = err == nil && !job.Status(record.Status).Terminal()
		return err
	})
	if err != nil && !db.IsNotFound(err) {
		return err
	}
	if goesOn {
		a.breach("a job that is running has its files", jobID, "%s %s", key, what)
	}
	return nil
}
