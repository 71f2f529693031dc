package render

import (
	"context"
	"fmt"
	"strings"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/lease"
)

// clearFramesLater has the frames' own files removed once the job has ended:
// the ZIP holds them, or nobody will.
func clearFramesLater(ctx context.Context, tx *db.Tx, jobID string) error {
	return lease.Add(ctx, tx, lease.ExpireQueue, "frames/"+jobID, 0, tx.Time())
}

// ClearFrames removes the frame files of a job that has ended. It is the work
// of a lease of lease.ExpireQueue whose subject is "frames/<job_id>".
func (j *Jobs) ClearFrames(ctx context.Context, l lease.Lease, jobID string) error {
	err := j.Blobs.List(ctx, "frames/"+jobID+"/", func(key string, _ time.Time) error {
		return j.Blobs.Delete(ctx, key)
	})
	if err != nil {
		return err
	}
	return j.DB.Write(ctx, func(tx *db.Tx) error { return lease.Finish(ctx, tx, l.Ref()) })
}

// ExpireArtifact removes a ZIP whose time is over. It is the work of a lease of
// lease.ExpireQueue whose subject is "artifact/<job_id>".
func (j *Jobs) ExpireArtifact(ctx context.Context, l lease.Lease, jobID string) error {
	var key string
	err := j.DB.Write(ctx, func(tx *db.Tx) error {
		job, err := lock(ctx, tx, jobID)
		if err != nil {
			return err
		}
		key = job.ArtifactKey
		if err := tx.JobArtifactRemoved(ctx, query.JobArtifactRemovedParams{Now: tx.Now, JobID: jobID}); err != nil {
			return fmt.Errorf("expire artifact: %w", err)
		}
		return lease.Finish(ctx, tx, l.Ref())
	})
	if err != nil {
		return err
	}
	// After the row: a blob without a row is found by the sweep.
	return j.Blobs.Delete(ctx, key)
}

// strayAge is how old a blob must be to count as left behind: far longer than
// between storing bytes and writing the row that names them.
const strayAge = 24 * time.Hour

// Sweep removes blobs that no row names: what a crash left between storing
// bytes and writing their row. It returns how many it removed.
func (j *Jobs) Sweep(ctx context.Context) (removed int, err error) {
	wanted := map[string]bool{}
	live := map[string]bool{}
	var now time.Time
	err = j.DB.Read(ctx, func(tx *db.Tx) error {
		now = tx.Time()
		contents, err := tx.ContentKeys(ctx)
		if err != nil {
			return fmt.Errorf("list content: %w", err)
		}
		artifacts, err := tx.JobArtifactKeys(ctx)
		if err != nil {
			return fmt.Errorf("list artifacts: %w", err)
		}
		for _, key := range append(contents, artifacts...) {
			wanted[key] = true
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
	err = j.Blobs.List(ctx, "", func(key string, modified time.Time) error {
		parts := strings.Split(key, "/")
		if wanted[key] || now.Sub(modified) < strayAge || (parts[0] == "frames" && len(parts) > 1 && live[parts[1]]) {
			return nil
		}
		removed++
		return j.Blobs.Delete(ctx, key)
	})
	return removed, err
}
