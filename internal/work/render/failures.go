package render

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
)

// Failure is a try of a frame that came to nothing.
type Failure struct {
	Code    fault.Code
	Message string
	// Log is the last lines of Blender's output, without paths of the machine.
	Log string
	// Final says that no other worker would do better.
	Final bool

	doubted string // pixel hash of a picture that another worker is asked to confirm
}

// lacks says that the worker cannot render the job at all, and another may: what
// is missing is the worker's.
func (f Failure) lacks() bool { return f.Code == fault.DenoiserUnavailable }

// machine says that the failure tells of the worker and nothing of the frame.
func machine(code fault.Code) bool {
	return code == fault.WorkerLost || code == fault.GPUUnavailable
}

// Failure bounds.
const (
	// frameTries is how often a frame is tried before its job fails.
	frameTries = 3
	// checkTries is how often a frame may fail the frame check before its job fails.
	checkTries = 2
	// alikeTries and alikeWorkers are how many tries of a job's first frames, by
	// how many workers, tell by failing alike that the file is at fault.
	alikeTries   = 3
	alikeWorkers = 2
)

// history is what is known of a frame and its job when a try of it has failed.
type history struct {
	tries   int  // of this frame, this one included, that count
	checks  int  // of them, how many failed the frame check
	again   bool // this worker has doubted the frame's picture before
	alike   int  // tries of the job's frames that failed with this code
	holders int  // workers that made those
	begun   bool // a frame of the job is accepted
	others  bool // a worker is there that has not tried this frame yet
}

// hopeless decides whether a failed try ends the job.
func hopeless(f Failure, h history) bool {
	switch {
	case f.lacks():
		return !h.others
	case f.Final:
		return true
	case f.doubted != "" && h.again && !h.others:
		return true
	case h.tries >= frameTries || h.checks >= checkTries:
		return true
	}
	return !h.begun && !machine(f.Code) && h.alike >= alikeTries && h.holders >= alikeWorkers
}

// FailFrame takes a frame back from a worker that could not render it. It goes to
// another worker, or its job fails: see hopeless. Errors: lease_lost.
func (j *Jobs) FailFrame(ctx context.Context, ref lease.Ref, f Failure) error {
	return j.DB.Write(ctx, func(tx *db.Tx) error { return j.failFrame(ctx, tx, ref, f) })
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
	if err := returned(ctx, tx, job); err != nil {
		return err
	}
	return j.failed(ctx, tx, &job, ref, l.Item, f)
}

// failed keeps a failed try whose frame waits again, and ends the job when it is
// hopeless; job then says so.
func (j *Jobs) failed(ctx context.Context, tx *db.Tx, job *query.Job, ref lease.Ref, frame int64, f Failure) error {
	if err := remember(ctx, tx, ref, job.JobID, frame, f); err != nil {
		return err
	}
	h, err := historyOf(ctx, tx, *job, ref, frame, f)
	if err != nil {
		return err
	}
	ends := hopeless(f, h)
	j.Log.Warn("frame failed", "job_id", job.JobID, "frame", frame, "worker_id", ref.Holder, "attempt", ref.Attempt, "tries", h.tries,
		"code", f.Code, "message", f.Message, "ends_job", ends)
	if ends {
		if err := j.fail(ctx, tx, *job, f.Code, fmt.Sprintf("Frame %d: %s", frame, f.Message)); err != nil {
			return err
		}
		job.Status = string(Failed)
	}
	if f.Code == fault.GPUUnavailable {
		return j.strike(ctx, tx, ref.Holder)
	}
	return nil
}

// remember keeps a failed try: it decides who gets the frame next, and the job's
// log shows it.
func remember(ctx context.Context, tx *db.Tx, ref lease.Ref, jobID string, frame int64, f Failure) error {
	lacks := int64(0)
	if f.lacks() {
		lacks = 1
	}
	err := tx.FailedTryCreate(ctx, query.FailedTryCreateParams{
		LeaseID: ref.ID, Attempt: ref.Attempt, Subject: jobID, Item: frame, Holder: ref.Holder,
		Code: string(f.Code), Message: f.Message, Log: lastLines(f.Log), Lacks: lacks, PixelSha256: f.doubted, FailedAt: tx.Now,
	})
	if err != nil {
		return fmt.Errorf("keep a failed try: %w", err)
	}
	return nil
}

// keptLog bounds what is kept of the output of a failed try, in bytes.
const keptLog = 4 << 10

// lastLines keeps the end of a log, from a line's start.
func lastLines(log string) string {
	if len(log) <= keptLog {
		return log
	}
	log = log[len(log)-keptLog:]
	return log[strings.IndexByte(log, '\n')+1:]
}

func historyOf(ctx context.Context, tx *db.Tx, job query.Job, ref lease.Ref, frame int64, f Failure) (h history, err error) {
	tries, err := tx.FailedTriesOfFrame(ctx, ref.ID)
	if err != nil {
		return h, fmt.Errorf("read failed tries: %w", err)
	}
	for _, t := range tries {
		if t.Lacks == 1 {
			continue
		}
		h.tries++
		if t.Code == string(fault.FrameCheckFailed) && t.PixelSha256 == "" {
			h.checks++
		}
		h.again = h.again || (t.PixelSha256 != "" && t.Holder == ref.Holder && t.Attempt != ref.Attempt)
	}
	alike, err := tx.FailedTriesAlike(ctx, query.FailedTriesAlikeParams{JobID: job.JobID, Code: string(f.Code)})
	if err != nil {
		return h, fmt.Errorf("count failed tries: %w", err)
	}
	h.alike, h.holders, h.begun = int(alike.Tries), int(alike.Holders), job.FramesCompleted > 0
	others, err := tx.OthersFor(ctx, query.OthersForParams{
		Since: tx.Now - WorkerOnline.Microseconds(), Now: tx.Now, Holder: ref.Holder, Subject: job.JobID, Item: frame,
	})
	if err != nil {
		return h, fmt.Errorf("look for other workers: %w", err)
	}
	h.others = others > 0
	return h, nil
}

// retryDelay lets what may pass pass; a lost or lacking worker says nothing of the
// frame.
func retryDelay(code fault.Code) time.Duration {
	if code == fault.WorkerLost || code == fault.DenoiserUnavailable {
		return 0
	}
	return time.Second
}

// Release takes frames back from a worker that stops; it is no failure.
func (j *Jobs) Release(ctx context.Context, refs []lease.Ref) error {
	if len(refs) == 0 {
		return nil
	}
	return j.DB.Write(ctx, func(tx *db.Tx) error {
		var given []string // jobs, once for each frame
		for _, ref := range refs {
			err := lease.Release(ctx, tx, ref, FrameQueue)
			if errors.Is(err, lease.ErrLost) {
				continue
			}
			if err != nil {
				return err
			}
			given = append(given, subject(ref.ID))
		}
		for _, jobID := range given { // behind all leases: see turns.go
			job, err := tx.JobGet(ctx, jobID)
			if err != nil {
				return fmt.Errorf("read job: %w", err)
			}
			if err := returned(ctx, tx, job); err != nil {
				return err
			}
		}
		return nil
	})
}

// Queues says how frames and packaging are treated. A frame that fails too often
// fails its job, and so does packaging: neither becomes a dead letter.
func (j *Jobs) Queues() []lease.Queue {
	return []lease.Queue{
		{Name: FrameQueue, Life: j.LeaseLife, LongestDelay: 2 * time.Second, OnLapse: j.lapseFrame},
		{Name: PackageQueue, Life: j.LeaseLife, LongestPause: time.Minute, LongestDelay: 2 * time.Minute},
	}
}

// lapseFrame takes a frame back from a worker that went silent.
func (j *Jobs) lapseFrame(ctx context.Context, tx *db.Tx, l lease.Lease) error {
	err := j.failFrame(ctx, tx, l.Ref(), Failure{Code: fault.WorkerLost, Message: "The worker that rendered it went silent."})
	if fault.Is(err, fault.LeaseLost) {
		return lease.ErrLost
	}
	return err
}

// loggedTries bounds the failed tries that a job's log shows: the first ones tell
// why it failed.
const loggedTries = 200

func failedTries(ctx context.Context, tx *db.Tx, jobID string) ([]query.FailedTry, error) {
	tries, err := tx.FailedTriesOfJob(ctx, query.FailedTriesOfJobParams{JobID: jobID, Max: loggedTries})
	if err != nil {
		return nil, fmt.Errorf("read failed tries: %w", err)
	}
	return tries, nil
}

// failureLog is what a job's log says of tries that failed. Workers are not named:
// their names are the operator's.
func failureLog(tries []query.FailedTry) string {
	var b strings.Builder
	for _, t := range tries {
		fmt.Fprintf(&b, "== frame %d failed at %s: %s, attempt %d: %s\n", t.Item, db.Time(t.FailedAt).Format(time.RFC3339), t.Code, t.Attempt, t.Message)
		if t.Log != "" {
			fmt.Fprintf(&b, "%s\n", strings.TrimRight(t.Log, "\n"))
		}
	}
	return b.String()
}
