package movie

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/framecheck"
	"svc.example/internal/work/job"
	"svc.example/internal/work/project"
	"svc.example/internal/work/quote"
)

// MaxBytes bounds a movie: an hour of 4K at 19 Mbit/s.
const MaxBytes = 8 << 30

// longestHold bounds the time from a claim to its report, despite heartbeats.
const longestHold = 2 * time.Hour

// Work is a movie for a worker to encode.
type Work struct {
	MovieID       string
	ZIP           ZIP
	Frames        int
	Width, Height int
	FPS           float64
	Own           Own
	Lease         lease.Lease
}

// Own is what a movie has of the scene that its job rendered; empty where that writes no movie, or
// its upload was removed. It then has no settings and no sound but the service's own.
type Own struct {
	UploadID string
	Main     string // the .blend among the upload's files
	Scene    string // the name of the scene in it
}

// ZIP is the file with the frames of a job.
type ZIP struct {
	Key, SHA256 string
	SizeBytes   int64
}

// Owns reports whether a lease that a worker names is one of a movie.
func Owns(leaseID string) bool { return strings.HasPrefix(leaseID, Queue+":") }

// LeaseID is the lease of a movie.
func LeaseID(movieID string) string { return lease.ID(Queue, jobOf(movieID), 0) }

// Workers know a movie by an id of its own, so that they never take it for its job.
func movieID(jobID string) string { return id.Movie + strings.TrimPrefix(jobID, id.Job) }
func jobOf(movieID string) string { return id.Job + strings.TrimPrefix(movieID, id.Movie) }

// Claim leases the longest waiting order to a worker for which no frame waits and that holds no
// other order. ok is false when there is none.
func (m *Movies) Claim(ctx context.Context, holder string) (w Work, ok bool, err error) {
	waiting := 0
	err = m.DB.ReadStatement(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		waiting, err = lease.CountDue(ctx, tx, Queue, 1) // idle workers poll often: one indexed read
		return err
	})
	if err != nil || waiting == 0 {
		return w, false, err
	}
	err = m.DB.Write(ctx, func(tx *db.Tx) error {
		w, ok = Work{}, false // the transaction may run again after a conflict
		held, err := tx.MoviesHeld(ctx, holder)
		if err != nil || held > 0 {
			return err
		}
		if idle, err := dispatch.Idles(ctx, tx, holder); err != nil || !idle {
			return err
		}
		next, err := tx.MovieNext(ctx, query.MovieNextParams{Now: tx.Now, WorkerID: holder, Lacks: int64(dispatch.ToEncode)})
		if db.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		leases, err := lease.ClaimIDs(ctx, tx, []string{next}, holder, m.LeaseLife)
		if err != nil || len(leases) == 0 {
			return err
		}
		w, err = workOf(ctx, tx, leases[0])
		ok = err == nil && w.MovieID != ""
		return err
	})
	if err != nil {
		return Work{}, false, fmt.Errorf("claim a movie: %w", err)
	}
	return w, ok, nil
}

// workOf describes an order. One whose ZIP was removed meanwhile ends, and is described as none.
func workOf(ctx context.Context, tx *db.Tx, l lease.Lease) (w Work, err error) {
	record, err := job.Read(ctx, tx, l.Subject)
	if err != nil {
		return w, err
	}
	frames, err := tx.FramesOf(ctx, l.Subject)
	if err != nil {
		return w, fmt.Errorf("read frames: %w", err)
	}
	if record.ArtifactRemovedAt != 0 || len(frames) == 0 {
		return w, lease.Finish(ctx, tx, l.Ref())
	}
	row, err := tx.JobScene(ctx, l.Subject)
	if err != nil && !db.IsNotFound(err) {
		return w, fmt.Errorf("read the scene of %s: %w", l.Subject, err)
	}
	own, err := ownOf(ctx, tx, record, row.Scene)
	if err != nil {
		return w, err
	}
	return Work{
		MovieID: movieID(l.Subject), ZIP: zipOf(record), Frames: len(frames), Width: int(frames[0].Width), Height: int(frames[0].Height),
		FPS: quote.FPSOf(row.Scene) / float64(max(record.FrameStep, 1)), Own: own, Lease: l,
	}, nil
}

// ownOf finds what a movie has of its job's stored scene.
func ownOf(ctx context.Context, tx *db.Tx, record job.Record, scene string) (Own, error) {
	name, writes := quote.MovieScene(scene)
	if !writes {
		return Own{}, nil
	}
	m, err := project.ManifestOf(ctx, tx, record.UploadID)
	if err != nil && !db.IsNotFound(err) || m.Main == "" {
		return Own{}, err
	}
	return Own{UploadID: record.UploadID, Main: m.Main, Scene: name}, nil
}

func zipOf(record job.Record) ZIP {
	return ZIP{Key: record.ArtifactKey, SHA256: record.ArtifactSha256, SizeBytes: record.ArtifactSize}
}

// Input is the ZIP of a movie and what it has of its scene, for the worker that holds its order.
// Error: lease_lost.
func (m *Movies) Input(ctx context.Context, workerID, movieID string) (z ZIP, own Own, err error) {
	err = m.DB.Read(ctx, func(tx *db.Tx) error {
		holder, err := tx.MovieHolder(ctx, LeaseID(movieID))
		if err != nil {
			return err
		}
		if holder != workerID {
			return lease.ErrLost
		}
		record, err := job.Read(ctx, tx, jobOf(movieID))
		if err != nil {
			return err
		}
		row, err := tx.JobScene(ctx, record.JobID)
		if err != nil && !db.IsNotFound(err) {
			return err
		}
		z = zipOf(record)
		own, err = ownOf(ctx, tx, record, row.Scene)
		return err
	})
	return z, own, told(movieID, err)
}

// Heartbeat extends leases and returns the ids of those that the worker no longer holds. One
// that is held for longer than longestHold fails, so that the worker loses it.
func (m *Movies) Heartbeat(ctx context.Context, refs []lease.Ref, progress []float64) (lost []string, err error) {
	err = m.DB.Write(ctx, func(tx *db.Tx) error {
		for _, ref := range refs {
			claimed, err := tx.MovieClaimed(ctx, ref.ID)
			if err == nil && claimed < tx.Now-longestHold.Microseconds() {
				err = m.fail(ctx, tx, ref, framecheck.Failure{Code: fault.FrameTimeExceeded, Message: fmt.Sprintf("It was not encoded after %s.", longestHold)})
			}
			if err != nil && !errors.Is(err, lease.ErrLost) && !db.IsNotFound(err) {
				return err
			}
		}
		lost, err = lease.BeatAll(ctx, tx, refs, progress, m.LeaseLife)
		return err
	})
	return lost, err
}

// Release returns orders of a worker that stops or gets a frame. It is no failure. One that is
// not the worker's any more is skipped.
func (m *Movies) Release(ctx context.Context, refs []lease.Ref) error {
	for _, ref := range refs {
		err := m.DB.Write(ctx, func(tx *db.Tx) error { return lease.Release(ctx, tx, ref, Queue) })
		if err != nil && !errors.Is(err, lease.ErrLost) {
			return fmt.Errorf("release a movie: %w", err)
		}
	}
	return nil
}

// Fail ends an attempt that a worker could not finish. After MaxFailures, or at once if every
// worker would fail, the order is a dead letter. Error: lease_lost.
func (m *Movies) Fail(ctx context.Context, ref lease.Ref, f framecheck.Failure) error {
	return told(ref.ID, m.DB.Write(ctx, func(tx *db.Tx) error { return m.fail(ctx, tx, ref, f) }))
}

func (m *Movies) fail(ctx context.Context, tx *db.Tx, ref lease.Ref, f framecheck.Failure) error {
	m.Log.Warn("a movie was not encoded", "lease_id", ref.ID, "worker_id", ref.Holder, "attempt", ref.Attempt, "code", f.Code, "message", f.Message)
	queue := m.Leases()
	if f.Final {
		queue.MaxFailures = 1
	}
	_, err := queue.Fail(ctx, tx, lease.Lease{ID: ref.ID, Holder: ref.Holder, Attempt: ref.Attempt}, string(f.Code), f.Message)
	return err
}

// lapse ends the attempt of a worker that stopped sending heartbeats.
func (m *Movies) lapse(ctx context.Context, tx *db.Tx, l lease.Lease, blameless bool) error {
	if blameless {
		return lease.Release(ctx, tx, l.Ref(), Queue)
	}
	return m.fail(ctx, tx, l.Ref(), framecheck.Failure{Code: fault.WorkerLost, Message: "The worker that encoded it stopped reporting."})
}

// Delivered is a movie as a worker delivers it.
type Delivered struct {
	Lease     lease.Ref
	MovieID   string
	SHA256    string // as the worker described it
	SizeBytes int64
}

// Accept stores the movie of the worker that holds the lease. Repeating a report succeeds.
// Errors: lease_lost; frame_rejected, after which the attempt has failed.
func (m *Movies) Accept(ctx context.Context, d Delivered, content io.Reader) error {
	var record job.Record
	err := m.DB.Read(ctx, func(tx *db.Tx) (err error) {
		if err = lease.Check(ctx, tx, d.Lease); err == nil {
			record, err = job.Read(ctx, tx, jobOf(d.MovieID))
		}
		return err
	})
	if err != nil {
		return told(d.MovieID, err)
	}
	key := prefix(record) + d.SHA256 + ".mp4"
	if err := m.store(ctx, key, d, content); err != nil {
		if !fault.Is(err, fault.FrameRejected) {
			return err
		}
		return errors.Join(m.Fail(ctx, d.Lease, framecheck.Failure{Code: fault.FrameCheckFailed, Message: "What the worker delivered is no movie."}), err)
	}
	err = m.DB.Write(ctx, func(tx *db.Tx) error { return lease.Finish(ctx, tx, d.Lease) })
	if errors.Is(err, lease.ErrLost) {
		_ = m.Blobs.Delete(context.WithoutCancel(ctx), key) // the sweep removes what a failed delete leaves
	}
	return told(d.MovieID, err)
}

// store writes a movie while it comes. Error: frame_rejected.
func (m *Movies) store(ctx context.Context, key string, d Delivered, content io.Reader) error {
	w, err := m.Blobs.Create(ctx, key)
	if err != nil {
		return fmt.Errorf("store a movie: %w", err)
	}
	defer w.Abort()
	sum, form := sha256.New(), &boxes{}
	n, err := io.Copy(io.MultiWriter(w, sum, form), io.LimitReader(content, d.SizeBytes+1))
	if err == nil && !form.areMovie() || n != d.SizeBytes || hex.EncodeToString(sum.Sum(nil)) != d.SHA256 {
		return fault.New(fault.FrameRejected, "The movie does not match its description.").Wrap(err)
	}
	if err != nil {
		return fmt.Errorf("store a movie: %w", err)
	}
	if err := w.Commit(); err != nil && !errors.Is(err, blob.ErrExists) {
		return fmt.Errorf("store a movie: %w", err)
	}
	return nil
}

// told turns the errors about a lease into the one answer to a report that comes too late.
func told(what string, err error) error {
	if errors.Is(err, lease.ErrLost) || db.IsNotFound(err) || fault.Is(err, fault.RenderNotFound) {
		return fault.New(fault.LeaseLost, "The movie %s no longer belongs to this worker.", what)
	}
	return err
}
