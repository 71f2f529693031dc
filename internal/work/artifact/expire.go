package artifact

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/job"
	"svc.example/internal/work/result"
)

// ClearFrames removes the frame files of a job that has ended: the ZIP contains them, or
// the job has none. It is the work of a lease of lease.ExpireQueue and kind
// job.ExpireFrames. Repeating it is safe. A crash in between leaves files and an
// unfinished lease: the next attempt removes the rest. Only the last step is a
// transaction, since a store of files has none.
func (a *Artifacts) ClearFrames(ctx context.Context, l lease.Lease, jobID string) error {
	err := a.Blobs.List(ctx, "frames/"+jobID+"/", func(key string, _ time.Time) error {
		return a.Blobs.Delete(ctx, key)
	})
	if err != nil {
		return err
	}
	return a.DB.Write(ctx, func(tx *db.Tx) error { return lease.Finish(ctx, tx, l.Ref()) })
}

// jobOf is the job of a ZIP's key, "" for another key.
func jobOf(artifactKey string) string {
	name, isZIP := strings.CutPrefix(artifactKey, "artifacts/")
	end := strings.LastIndexByte(name, '-') // the attempt follows
	if !isZIP || end < 0 {
		return ""
	}
	return name[:end]
}

// inUsePause is when a ZIP is tried again that a job under way needs.
const inUsePause = time.Hour

// Expire removes a ZIP after its retention, and the job's overviews; one that a job under way
// needs, later. It is the work of a lease of lease.ExpireQueue
// and kind job.ExpireArtifact. Error: render_not_found. When the file cannot be deleted
// after the commit, Sweep does it later.
func (a *Artifacts) Expire(ctx context.Context, l lease.Lease, jobID string) error {
	var key string
	err := a.DB.Write(ctx, func(tx *db.Tx) (err error) {
		key, err = job.RemoveArtifact(ctx, tx, jobID)
		if errors.Is(err, job.ErrInUse) {
			return lease.Reschedule(ctx, tx, l.Ref(), lease.ExpireQueue, tx.Time().Add(inUsePause))
		}
		if err != nil {
			return err
		}
		return lease.Finish(ctx, tx, l.Ref())
	})
	if err != nil || key == "" {
		return err
	}
	// The row comes first: Sweep finds a blob without a row, but a row without its blob
	// would be a broken promise.
	return errors.Join(a.Blobs.Delete(ctx, key), RemoveOverviews(ctx, a.Blobs, jobID))
}

// RemoveOverviews removes the overviews of a job whose ZIP is removed.
func RemoveOverviews(ctx context.Context, blobs blob.Store, jobID string) error {
	return blobs.List(ctx, result.OverviewsOf(jobID), func(key string, _ time.Time) error { return blobs.Delete(ctx, key) })
}

// orphanAge is the age from which a blob without a row is an orphan: far longer than the
// time between storing bytes and writing the row that names them.
const orphanAge = 24 * time.Hour

// Sweep removes blobs that no row names, which a crash between storing bytes and writing
// their row leaves. It returns their number. The rows are read before the files are
// listed: a blob that is stored in between is younger than orphanAge. Repeating it is
// safe.
func (a *Artifacts) Sweep(ctx context.Context) (removed int, err error) {
	wanted := map[string]bool{}
	live, packed := map[string]bool{}, map[string]bool{} // jobs
	var now time.Time
	err = a.DB.Read(ctx, func(tx *db.Tx) error {
		now = tx.Time()
		contents, err := tx.ContentKeys(ctx)
		if err != nil {
			return fmt.Errorf("list content: %w", err)
		}
		artifacts, err := tx.JobArtifactKeys(ctx)
		if err != nil {
			return fmt.Errorf("list artifacts: %w", err)
		}
		previews, err := tx.PreviewBlobs(ctx)
		if err != nil {
			return fmt.Errorf("list previews: %w", err)
		}
		challenges, err := tx.ChallengeBlobs(ctx)
		if err != nil {
			return fmt.Errorf("list pictures of challenges: %w", err)
		}
		for _, key := range slices.Concat(contents, artifacts, previews, challenges) {
			wanted[key] = true
		}
		for _, key := range artifacts {
			packed[jobOf(key)] = true
		}
		jobs, err := tx.JobsLive(ctx)
		if err != nil {
			return fmt.Errorf("list jobs: %w", err)
		}
		for _, jobID := range jobs {
			live[jobID] = true
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	err = a.Blobs.List(ctx, "", func(key string, modified time.Time) error {
		// Frames and overviews are kept by their job, not by rows of their own.
		parts := strings.Split(key, "/")
		ofJob := len(parts) > 1 && (parts[0] == "frames" && live[parts[1]] || parts[0] == result.Overviews && packed[parts[1]])
		if wanted[key] || ofJob || now.Sub(modified) < orphanAge {
			return nil
		}
		removed++
		return a.Blobs.Delete(ctx, key)
	})
	return removed, err
}
