// Package frames carries out workers' reports: claim, heartbeat, accept, fail, release,
// and the lapse of a silent worker's lease.
//
// What always holds: a frame has one winner, also when reports come late or twice; a
// report of an older attempt or another holder is lease_lost; a picture counts only
// when the frame check passes it; a failed attempt is stored in the transaction that
// requeues its frame or ends its job. A transaction locks the job's row before its
// leases, those before the turn rows, and workers' rows last (see job).
//
// The package owns the tables frame and candidate. It leaves the choice of frames to
// dispatch, the judgement of pictures to framecheck, states to job, bytes and HTTP to
// door/farm. Start reading at Frames.Claim, then accept.go; compare.go compares the
// pictures of several workers, reopen.go reopens accepted frames, fail.go and decide.go
// handle failed attempts, lapse.go those of workers that fell silent.
package frames

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/job"
	"svc.example/internal/work/receipt"
)

// Frames carries out workers' reports. The fields are set once, before the first call; all
// methods are safe for concurrent use, also by several processes over one database.
type Frames struct {
	DB      *db.DB
	Jobs    JobFailer         // ends a job whose frame cannot be rendered
	Workers *dispatch.Workers // counts the good and bad frames of each worker
	// LeaseLife is how long a worker keeps a frame without a heartbeat.
	LeaseLife time.Duration
	// FrameTime is how long a worker may render a frame, and PlayTime how long it may compute
	// those before, of a job whose frames depend on them. See TakeBackOverdue.
	FrameTime, PlayTime time.Duration
	// Cuts has what several workers render of a frame; nil cuts none.
	Cuts Cuts
	// DoubleRender is the sample of frames that two workers must paint alike; the zero
	// value samples none.
	DoubleRender Sample
	// Accepted is called after each frame that was accepted, with Blender's time for it and
	// its times, and Failed after each attempt that failed; nil is allowed.
	Accepted func(render time.Duration, times receipt.Times)
	Failed   func(code fault.Code)
	Log      *slog.Logger // failed attempts; they are the operator's, not the caller's
}

// JobFailer ends a locked job that cannot complete and releases its money. It is an
// interface because only this part of job.Jobs is needed.
type JobFailer interface {
	Fail(ctx context.Context, tx *db.Tx, job job.Record, code fault.Code, message string) error
}

// Cuts ends what several workers render of a frame: split.Cuts does.
type Cuts interface {
	// Close is told of each accepted frame, and whether it was joined of strips.
	Close(ctx context.Context, tx *db.Tx, held lease.Ref, jobID string, frame int, joined bool) error
	// Reopen is told of each accepted frame that is rendered once more.
	Reopen(ctx context.Context, tx *db.Tx, jobID string, frame int64) error
}

// Heartbeat extends a worker's leases and returns the ids of those that it no longer
// holds: others have their frames, or their job ended. progress, 0 to 1, belongs to the lease at the
// same index. holder replaces the one in each ref: a worker can extend only its own
// leases. Repeating the call is harmless.
func (f *Frames) Heartbeat(ctx context.Context, holder string, held []lease.Ref, progress []float64) (lost []string, err error) {
	lost, err = f.heartbeat(ctx, holder, held, progress)
	if errors.Is(err, dispatch.ErrOtherKind) {
		return f.heartbeat(ctx, holder, held, progress)
	}
	return lost, err
}

func (f *Frames) heartbeat(ctx context.Context, holder string, held []lease.Ref, progress []float64) (lost []string, err error) {
	err = f.DB.Write(ctx, func(tx *db.Tx) error {
		lost = []string{} // the transaction may run again after a conflict
		var gone []lease.Ref
		for i, ref := range held {
			ref.Holder = holder
			err := lease.Beat(ctx, tx, ref, progress[i], f.LeaseLife)
			if errors.Is(err, lease.ErrLost) {
				gone = append(gone, ref)
				continue
			}
			if err != nil {
				return err
			}
			if jobID := jobOf(ref.ID); jobID != "" && progress[i] > 0 {
				// Watchers see progress inside a frame by this; no row of the job changes.
				tx.Announce(job.ProgressTopic(jobID))
			}
		}
		resumed, err := f.resume(ctx, tx, gone)
		for _, ref := range gone {
			if !slices.Contains(resumed, ref) {
				lost = append(lost, ref.ID)
			}
		}
		return err
	})
	return lost, err
}

// Upload is the id of a job's upload, for a worker that holds one of the job's frames: a
// worker may read the files of no other job. Error: lease_lost. The check and the read
// share a transaction: a lease that lapses in between reveals nothing.
func (f *Frames) Upload(ctx context.Context, workerID, jobID string) (uploadID string, err error) {
	err = f.DB.Read(ctx, func(tx *db.Tx) error {
		held, err := tx.WorkerHolds(ctx, query.WorkerHoldsParams{JobID: jobID, WorkerID: workerID})
		if err == nil && held == 0 {
			held, err = tx.WorkerLapsed(ctx, query.WorkerLapsedParams{JobID: jobID, WorkerID: workerID})
		}
		if err != nil {
			return fmt.Errorf("read leases: %w", err)
		}
		if held == 0 {
			return fault.New(fault.LeaseLost, "This worker holds no frame of %s.", jobID)
		}
		record, err := job.Read(ctx, tx, jobID)
		uploadID = record.UploadID
		return err
	})
	return uploadID, err
}

// LeaseID is the id of the lease of a job's frame. It stays the same over all attempts of
// the frame.
func LeaseID(jobID string, frame int) string {
	return lease.ID(dispatch.FrameQueue, jobID, int64(frame))
}

// JobOf is the job of a lease that a worker names, "" for an id of another form.
func JobOf(leaseID string) string { return jobOf(leaseID) }

// jobOf is the job id in a frame lease's id; "" for an id of another form, since ids
// come from workers.
func jobOf(leaseID string) string {
	parts := strings.Split(leaseID, ":")
	if len(parts) != 3 {
		return ""
	}
	return parts[1]
}

// leaseLost is the one answer to a report that comes too late, for any reason. The
// worker drops its result then.
func leaseLost(leaseID string) error {
	return fault.New(fault.LeaseLost, "The lease %s no longer belongs to this worker.", leaseID)
}
