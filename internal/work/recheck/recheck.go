// Package recheck has a sample of the frames rendered again that jobs have taken over, at the
// service's cost, and compares the pictures: reuse rests on measurement, not on trust
// (decisions 29).
//
// What always holds: the job is complete before, so nobody waits or pays for it. A worker gets such
// a frame only if it would be idle, gives it up for one that is paid, and is of the class that
// rendered the frame. Pictures are compared as package frames compares two renderings of a frame;
// scenes that Blender does not repeat are left out. After a difference the frame is rendered a third
// time; if that confirms the difference, reuse is off for the class, otherwise the renderer does not
// repeat itself. A frame that no such worker renders within a day is forgotten.
//
// The package owns the queue of these frames and no table: the item of a lease is the frame of a
// completed job. Package reuse keeps what was found. Start reading at Sampling.Queue and
// Rechecks.Accept.
package recheck

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/frames"
	"svc.example/internal/work/job"
)

// Queue is the lease engine's queue of reused frames to render again: the subject is the job's id,
// the item the frame's number.
const Queue = "recheck"

// UsualPercent is the share of reused frames that is rendered again, unless the operator sets
// another one.
const UsualPercent = 2

const (
	// mostWaiting bounds the frames of a workspace that wait.
	mostWaiting = 200
	// longestWait is how long a frame waits for a worker of its class.
	longestWait = 24 * time.Hour
	// mostFailures is how often a frame may fail before it is forgotten.
	mostFailures = 3
	// failureDelay is the pause after an attempt that failed.
	failureDelay = 10 * time.Minute
)

// Sampling picks reused frames to render again.
type Sampling struct{ Sample frames.Sample }

// Queue queues the sampled frames of a job that completes, for job.Jobs.Sampled. Those of scenes
// that do not repeat, or whose frames depend on earlier ones, are left out.
func (s Sampling) Queue(ctx context.Context, tx *db.Tx, record job.Record) error {
	if s.Sample.Percent == 0 {
		return nil
	}
	scene, _, err := frames.PricedScene(ctx, tx, record.JobID)
	if err != nil || scene.Plays() || !scene.Repeats(record.BlenderVersion) {
		return err
	}
	taken, err := tx.FramesTaken(ctx, record.JobID)
	if err != nil {
		return fmt.Errorf("read reused frames: %w", err)
	}
	waiting, err := tx.RechecksOf(ctx, record.WorkspaceID)
	if err != nil {
		return fmt.Errorf("count frames to render again: %w", err)
	}
	var picked []int64
	for _, frame := range taken {
		if waiting+int64(len(picked)) < mostWaiting && s.Sample.Has("verify-reuse", record.JobID, int(frame)) {
			picked = append(picked, frame)
		}
	}
	if picked == nil {
		return nil
	}
	return lease.AddItems(ctx, tx, Queue, record.JobID, picked)
}

// Rechecks gives sampled frames to workers and compares what they render. The fields are set once,
// before the first call; all methods are safe for concurrent use, also by several processes over
// one database.
type Rechecks struct {
	DB     *db.DB
	Frames *frames.Frames
	Blobs  blob.Store
	Whole  *blob.Whole // what of Blobs was hashed, one for the process
	// LeaseLife is how long a worker keeps a frame without a heartbeat, FrameTime how long it
	// may take for one.
	LeaseLife, FrameTime time.Duration
	// Hold reserves memory for making a picture small; nil does not.
	Hold func(ctx context.Context, bytes int64) (done func(), err error)
	// Compared counts what was compared.
	Compared func(same bool)
	Log      *slog.Logger
}

// Owns reports whether a lease that a worker names is one of a frame to render again.
func Owns(leaseID string) bool { return strings.HasPrefix(leaseID, Queue+":") }

// LeaseID is the id of the lease of a frame to render again.
func LeaseID(jobID string, frame int) string { return lease.ID(Queue, jobID, int64(frame)) }

// Erase forgets the frames of a workspace. Repeating it changes nothing.
func Erase(ctx context.Context, tx *db.Tx, workspaceID string) error {
	jobs, err := tx.RechecksOfWorkspace(ctx, workspaceID)
	if err != nil {
		return fmt.Errorf("list frames to render again: %w", err)
	}
	for _, jobID := range jobs {
		if err := lease.Drop(ctx, tx, Queue, jobID); err != nil {
			return err
		}
	}
	return nil
}

// Audit reports frames to render again that no completed job has taken over.
func Audit(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) error {
	stray, err := tx.AuditRechecks(ctx)
	if err != nil {
		return fmt.Errorf("audit frames to render again: %w", err)
	}
	for _, leaseID := range stray {
		breach("only reused frames are rendered again", leaseID, "no completed job has taken this frame over")
	}
	return nil
}

// Tend forgets frames that wait for too long, and takes back those that a worker has had for too
// long despite its heartbeats. Several processes may call it at once.
func (r *Rechecks) Tend(ctx context.Context) error {
	var stale []query.Lease
	err := r.DB.Read(ctx, func(tx *db.Tx) (err error) {
		stale, err = tx.RechecksStale(ctx, query.RechecksStaleParams{
			CompletedBefore: tx.Now - longestWait.Microseconds(), HeldBefore: tx.Now - r.longestHold().Microseconds(),
		})
		return err
	})
	if err != nil || len(stale) == 0 {
		return err
	}
	return r.DB.Write(ctx, func(tx *db.Tx) error {
		for _, l := range stale {
			if err := lease.Remove(ctx, tx, Queue, l.Subject, l.Item); err != nil {
				return err
			}
		}
		return nil
	})
}
