package job

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/quote"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/reuse"
	"svc.example/internal/work/wallet"
)

// Artifact describes a packed ZIP and its contents. Its blob is durable before Complete
// is called: the receipt signs its hash.
type Artifact struct {
	Key  string // of the blob
	File receipt.File
	// Frames are in the order of their numbers.
	Frames     []receipt.Frame
	Renderer   receipt.Renderer // what rendered them
	Device     string           // "GPU" only when every frame was rendered on one
	DeviceName string
	Switched   []string // settings that workers changed to be able to render
	Keys       string   // of frames that later jobs may take over, for reuse.Keep
}

// ErrInUse means that a job under way needs the ZIP of another one.
var ErrInUse = errors.New("a job under way has frames of this one")

// errPackedTwice means that another process has completed the job. Only the state
// shows this: the wallet treats a second capture as a repeat of the first.
var errPackedTwice = errors.New("the job is no longer in packaging")

// Complete is the one transaction in which a job becomes completed: capture, receipt,
// its leaf in the log, event and state, all or nothing. It finishes l, the lease of
// PackageQueue. The leaf comes last because it locks the log for every completion until
// the commit.
//
// A crash before the commit leaves the job in packaging, and the lease is tried again.
// A process whose lease has lapsed fails here, before it has written anything. Errors:
// errPackedTwice and lease.ErrLost, wrapped, when another process was faster; the
// caller then deletes its own ZIP.
func (j *Jobs) Complete(ctx context.Context, l lease.Lease, a Artifact) error {
	for run := 1; ; run++ {
		signed, err := j.sign(ctx, l.Subject, a)
		if err != nil {
			return err
		}
		signed.must = run == mostSignings
		err = j.DB.Write(ctx, func(tx *db.Tx) error { return j.complete(ctx, tx, l, a, signed) })
		if !errors.Is(err, errLeafTaken) {
			return err
		}
	}
}

// complete is the transaction of Complete. Error: errLeafTaken, unless signed must do.
func (j *Jobs) complete(ctx context.Context, tx *db.Tx, l lease.Lease, a Artifact, signed signedReceipt) error {
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
	// Until the receipt is logged, everything happens when the receipt says that it did.
	now := tx.Now
	tx.Now = db.Micros(signed.receipt.CompletedAt)
	if err := change(ctx, tx, job.JobID, Packaging, Completed); err != nil {
		return err
	}
	if err := recordArtifact(ctx, tx, job, a); err != nil {
		return err
	}
	if err := unlessFree(wallet.Capture)(ctx, tx, job.WorkspaceID, job.JobID, job.PriceCents); err != nil {
		return err
	}
	// The files go by leases, in their own time: deleting ten thousand of them
	// would hold this transaction's locks for too long.
	if err := scheduleFrameRemoval(ctx, tx, job.JobID); err != nil {
		return err
	}
	life, err := identity.ArtifactLife(ctx, tx, job.WorkspaceID, j.ArtifactLife)
	if err != nil {
		return err
	}
	if err := lease.Add(ctx, tx, lease.ExpireQueue, expiry(ExpireArtifact, job.JobID), 0, tx.Time().Add(life)); err != nil {
		return err
	}
	if err := reuse.Keep(ctx, tx, job.WorkspaceID, job.JobID, a.Keys); err != nil {
		return err
	}
	if err := j.sample(ctx, tx, job); err != nil {
		return err
	}
	if err := j.publishEnd(ctx, tx, job.JobID); err != nil {
		return err
	}
	j.tell(tx, slog.LevelInfo, "job completed", job.JobID, job.WorkspaceID, "frames", job.FrameCount, "charged_cents", job.PriceCents)
	tx.Now = now
	return j.log(ctx, tx, signed)
}

// recordArtifact writes what a job has become into its row.
func recordArtifact(ctx context.Context, tx *db.Tx, job Record, a Artifact) error {
	movie, err := orderMovie(ctx, tx, job)
	if err != nil {
		return err
	}
	err = tx.JobCompleted(ctx, query.JobCompletedParams{
		ChargedCents: job.PriceCents, ArtifactKey: a.Key, ArtifactFilename: a.File.Filename, ArtifactSha256: a.File.SHA256, ArtifactSize: a.File.SizeBytes,
		RenderDevice: a.Device, DeviceName: a.DeviceName, BlenderVersion: a.Renderer.Version, Movie: movie, Now: tx.Now, JobID: job.JobID,
	})
	if err != nil {
		return fmt.Errorf("complete job: %w", err)
	}
	return nil
}

// orderMovie has the movie of a job encoded if its scene's output is one, and returns 1 then. The
// order is in the transaction that completes the job, but nothing of the job waits for it.
func orderMovie(ctx context.Context, tx *db.Tx, job Record) (movie int64, err error) {
	row, err := tx.JobScene(ctx, job.JobID)
	if err != nil {
		return 0, fmt.Errorf("read the scene of %s: %w", job.JobID, err)
	}
	if _, writes := quote.MovieScene(row.Scene); !writes {
		return 0, nil
	}
	return 1, lease.Add(ctx, tx, MovieQueue, job.JobID, 0, time.Time{})
}

// FailPackaging fails a job of a test world as one whose frames are lost, and finishes l, its
// lease of PackageQueue, in the same transaction.
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

// RemoveArtifact records that the retention of a job's ZIP is over and returns the key
// of its blob, which the caller deletes after the commit: a crash in between leaves a
// blob that the sweep removes, never a link to a missing file. Receipt and proof stay.
// Repeating it returns the same key. Errors: render_not_found; ErrInUse while a job under way
// has taken frames over from this one, whose bytes are in the ZIP.
func RemoveArtifact(ctx context.Context, tx *db.Tx, jobID string) (key string, err error) {
	job, err := Lock(ctx, tx, jobID)
	if err != nil {
		return "", err
	}
	using, err := tx.JobsTaking(ctx, jobID)
	if err != nil {
		return "", fmt.Errorf("look for users of an artifact: %w", err)
	}
	if using > 0 {
		return "", ErrInUse
	}
	if err := reuse.Forget(ctx, tx, jobID); err != nil {
		return "", err
	}
	if err := tx.JobArtifactRemoved(ctx, query.JobArtifactRemovedParams{Now: tx.Now, JobID: jobID}); err != nil {
		return "", fmt.Errorf("expire artifact: %w", err)
	}
	// No worker has to come for the order of a movie whose frames are gone.
	if err := lease.Erase(ctx, tx, MovieQueue, jobID); err != nil {
		return "", err
	}
	return job.ArtifactKey, nil
}
