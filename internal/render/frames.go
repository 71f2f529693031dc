package render

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"svc.example/internal/db"
	"svc.example/internal/db/query"
	"svc.example/internal/fault"
	"svc.example/internal/lease"
)

// Work is what a worker is handed: leases on frames of one job.
type Work struct {
	Job     query.Job
	Leases  []lease.Lease
	Waiting int // frames of the job that nobody holds, counted up to countWaiting
}

// countWaiting bounds how many waiting frames are counted: a worker asks only
// whether it may take more.
const countWaiting = 100

// Claim hands holder up to limit frames of one job: of prefer where that has
// frames waiting, else of the job whose frames have waited longest. No leases
// means that nothing waits.
func (j *Jobs) Claim(ctx context.Context, holder, prefer string, limit int) (w Work, err error) {
	// Many idle workers ask often: they look without taking the write lock.
	waits := false
	err = j.DB.Read(ctx, func(tx *db.Tx) (err error) {
		_, waits, err = lease.NextSubject(ctx, tx, FrameQueue)
		return err
	})
	if err != nil || !waits {
		return Work{}, err
	}
	err = j.DB.Write(ctx, func(tx *db.Tx) error {
		w = Work{}
		if prefer != "" {
			if err := j.claimOf(ctx, tx, holder, prefer, limit, &w); err != nil || len(w.Leases) > 0 {
				return err
			}
		}
		jobID, ok, err := lease.NextSubject(ctx, tx, FrameQueue)
		if err != nil || !ok {
			return err
		}
		return j.claimOf(ctx, tx, holder, jobID, limit, &w)
	})
	return w, err
}

func (j *Jobs) claimOf(ctx context.Context, tx *db.Tx, holder, jobID string, limit int, w *Work) error {
	job, err := tx.JobGet(ctx, jobID)
	if db.Missing(err) {
		return nil // a preference for a job that never was
	}
	if err != nil {
		return fmt.Errorf("read job: %w", err)
	}
	if Status(job.Status) == Queued {
		// The first claim. Locks the job, so that a cancel comes before or after.
		if job, err = lock(ctx, tx, jobID); err != nil {
			return err
		}
	}
	switch Status(job.Status) {
	case Queued:
		if err := change(ctx, tx, jobID, Queued, Rendering); err != nil {
			return err
		}
		if err := tx.JobClaimed(ctx, query.JobClaimedParams{Now: tx.Now, JobID: jobID}); err != nil {
			return fmt.Errorf("claim job: %w", err)
		}
	case Rendering:
	default:
		return nil // it ended a moment ago
	}
	leases, err := lease.ClaimOf(ctx, tx, FrameQueue, jobID, holder, limit, j.LeaseLife)
	if err != nil {
		return err
	}
	if len(leases) == 0 && Status(job.Status) == Queued {
		return fmt.Errorf("job %s is queued and has no frame to claim", jobID)
	}
	waiting, err := tx.LeaseCountWaiting(ctx, query.LeaseCountWaitingParams{Queue: FrameQueue, Subject: jobID, Most: countWaiting})
	if err != nil {
		return fmt.Errorf("count waiting frames: %w", err)
	}
	*w = Work{Job: job, Leases: leases, Waiting: int(waiting)}
	return nil
}

// Beat keeps a worker's leases alive and returns the ids of those that are no
// longer its own.
func (j *Jobs) Beat(ctx context.Context, holder string, held []lease.Ref, progress []float64) (lost []string, err error) {
	err = j.DB.Write(ctx, func(tx *db.Tx) error {
		lost = []string{}
		for i, ref := range held {
			ref.Holder = holder
			err := lease.Beat(ctx, tx, ref, progress[i], j.LeaseLife)
			if errors.Is(err, lease.ErrLost) {
				lost = append(lost, ref.ID)
				continue
			}
			if err != nil {
				return err
			}
			if jobID := subject(ref.ID); jobID != "" && progress[i] > 0 {
				tx.Announce(progressTopic(jobID))
			}
		}
		return nil
	})
	return lost, err
}

// subject is the job of a frame lease's id.
func subject(leaseID string) string {
	parts := strings.Split(leaseID, ":")
	if len(parts) != 3 {
		return ""
	}
	return parts[1]
}

// Picture is a frame that a worker hands in; its bytes are stored under BlobKey
// already.
type Picture struct {
	Lease         lease.Ref
	JobID         string
	Frame         int
	File          string
	BlobKey       string
	SHA256        string
	PixelSHA256   string
	SizeBytes     int64
	Width, Height int
	RenderTime    time.Duration
	Renderer      string // contract.RendererID or contract.SyntheticRenderer
	Device        string
	DeviceName    string
	Version       string
	BuildHash     string
	Switched      []string
	Log           string
}

// Accept takes a frame from the worker that holds its lease. The same report
// again changes nothing and succeeds; kept is then false, and the bytes that
// came with it are not wanted. The last frame sends the job to packaging.
// Errors: lease_lost.
func (j *Jobs) Accept(ctx context.Context, p Picture) (kept bool, err error) {
	err = j.DB.Write(ctx, func(tx *db.Tx) error {
		kept = false
		known, err := tx.FrameGet(ctx, query.FrameGetParams{JobID: p.JobID, Frame: int64(p.Frame)})
		if err == nil {
			if known.WorkerID == p.Lease.Holder && known.Attempt == p.Lease.Attempt && known.Sha256 == p.SHA256 {
				return nil
			}
			return lost(p.Lease.ID)
		}
		if !db.Missing(err) {
			return fmt.Errorf("read frame: %w", err)
		}
		kept = true
		return j.accept(ctx, tx, p)
	})
	return kept && err == nil, err
}

func (j *Jobs) accept(ctx context.Context, tx *db.Tx, p Picture) error {
	job, err := tx.JobFrameDone(ctx, query.JobFrameDoneParams{
		RenderUs: p.RenderTime.Microseconds(), RenderDevice: p.Device, DeviceName: p.DeviceName, BlenderVersion: p.Version, Renderer: p.Renderer, Now: tx.Now, JobID: p.JobID,
	})
	if db.Missing(err) {
		return lost(p.Lease.ID)
	}
	if err != nil {
		return fmt.Errorf("accept frame: %w", err)
	}
	if err := lease.Finish(ctx, tx, p.Lease); errors.Is(err, lease.ErrLost) {
		return lost(p.Lease.ID)
	} else if err != nil {
		return err
	}
	slices.Sort(p.Switched)
	_, err = tx.FrameCreate(ctx, query.FrameCreateParams{
		JobID: p.JobID, Frame: int64(p.Frame), Seq: job.Seq, Ordinal: job.FramesCompleted, File: p.File, BlobKey: p.BlobKey, Sha256: p.SHA256, PixelSha256: p.PixelSHA256,
		SizeBytes: p.SizeBytes, Width: int64(p.Width), Height: int64(p.Height), RenderUs: p.RenderTime.Microseconds(),
		WorkerID: p.Lease.Holder, Attempt: p.Lease.Attempt, Renderer: p.Renderer, Device: p.Device, DeviceName: p.DeviceName,
		BlenderVersion: p.Version, BuildHash: p.BuildHash, Switched: strings.Join(p.Switched, ","), Log: p.Log, AcceptedAt: tx.Now,
	})
	if err != nil {
		return fmt.Errorf("accept frame: %w", err)
	}
	tx.Announce(topic(p.JobID))
	if job.FramesCompleted < job.FrameCount {
		return nil
	}
	if err := change(ctx, tx, p.JobID, Rendering, Packaging); err != nil {
		return err
	}
	return lease.Add(ctx, tx, PackageQueue, p.JobID, 0, time.Time{})
}

func lost(leaseID string) error {
	return fault.New(fault.LeaseLost, "The lease %s is no longer this worker's.", leaseID)
}

// Failure is a frame that could not be rendered.
type Failure struct {
	Code    fault.Code
	Message string
	// Final says that no other worker would do better.
	Final bool
}

// FailFrame takes a frame back from a worker that could not render it. It is
// tried again, up to three times in all; then, or when the failure is final,
// the job fails. Errors: lease_lost.
func (j *Jobs) FailFrame(ctx context.Context, ref lease.Ref, f Failure) error {
	return j.DB.Write(ctx, func(tx *db.Tx) error {
		return j.failFrame(ctx, tx, ref, f)
	})
}

func (j *Jobs) failFrame(ctx context.Context, tx *db.Tx, ref lease.Ref, f Failure) error {
	job, err := lock(ctx, tx, subject(ref.ID))
	if fault.Is(err, fault.RenderNotFound) || (err == nil && Status(job.Status) != Rendering) {
		return lost(ref.ID)
	}
	if err != nil {
		return err
	}
	l, err := lease.Fail(ctx, tx, ref, string(f.Code), f.Message, retryDelay(f.Code))
	if errors.Is(err, lease.ErrLost) {
		return lost(ref.ID)
	}
	if err != nil {
		return err
	}
	j.Log.Warn("frame failed", "job_id", job.JobID, "frame", l.Item, "attempt", l.Attempt, "failures", l.Failures, "code", f.Code, "final", f.Final)
	if !f.Final && l.Failures < frameTries {
		return nil
	}
	return j.fail(ctx, tx, job, f.Code, fmt.Sprintf("Frame %d: %s", l.Item, f.Message))
}

// retryDelay lets what may pass pass; a lost worker says nothing of the frame.
func retryDelay(code fault.Code) time.Duration {
	if code == fault.WorkerLost {
		return 0
	}
	return time.Second
}

// Release takes frames back from a worker that stops; it is no failure.
func (j *Jobs) Release(ctx context.Context, refs []lease.Ref) error {
	return j.DB.Write(ctx, func(tx *db.Tx) error {
		for _, ref := range refs {
			if err := lease.Release(ctx, tx, ref, FrameQueue); err != nil && !errors.Is(err, lease.ErrLost) {
				return err
			}
		}
		return nil
	})
}

// Lapse takes back what silent holders have: frames of workers, and packing of
// a server that died. It returns how many leases lapsed.
func (j *Jobs) Lapse(ctx context.Context) (int, error) {
	var lapsed []lease.Lease
	err := j.DB.Read(ctx, func(tx *db.Tx) (err error) {
		lapsed, err = lease.Lapsed(ctx, tx)
		return err
	})
	if err != nil {
		return 0, err
	}
	for _, l := range lapsed {
		err := j.DB.Write(ctx, func(tx *db.Tx) error { return j.lapse(ctx, tx, l) })
		// It was heard after all, or another process took it back.
		if err != nil && !errors.Is(err, lease.ErrLost) && !fault.Is(err, fault.LeaseLost) {
			return len(lapsed), err
		}
	}
	return len(lapsed), nil
}

func (j *Jobs) lapse(ctx context.Context, tx *db.Tx, l lease.Lease) error {
	now, err := tx.LeaseGet(ctx, l.ID)
	if db.Missing(err) || (err == nil && now.LapsesAt > tx.Now) {
		return lease.ErrLost // a heartbeat came in between
	}
	if err != nil {
		return fmt.Errorf("read lease: %w", err)
	}
	if l.Queue == FrameQueue {
		return j.failFrame(ctx, tx, l.Ref(), Failure{Code: fault.WorkerLost, Message: "The worker that rendered it went silent."})
	}
	_, err = lease.Fail(ctx, tx, l.Ref(), string(fault.WorkerLost), "the server that worked on it went silent", 0)
	return err
}
