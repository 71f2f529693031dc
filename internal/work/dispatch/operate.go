package dispatch

import (
	"context"
	"fmt"
	"math"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/render/buildoption"
	"svc.example/internal/work/workertags"
)

// drained is the end of the suspension of a worker that an operator has drained: the year
// 9999, in microseconds. Restarting the worker ends it, because the worker registers
// again.
const drained = 253_370_764_800_000_000

// Drain stops a worker from getting frames; it finishes those that it holds. With undo it
// gets frames again. Repeating it changes nothing. Error: worker_not_found.
func Drain(ctx context.Context, tx *db.Tx, workerID string, undo bool) error {
	if _, err := readWorker(ctx, tx, workerID); err != nil {
		return err
	}
	_, err := changeTrust(ctx, tx, workerID, func(s trust) trust {
		switch {
		case !undo:
			s.until = drained
		case s.until == drained:
			s.until = 0
		}
		return s
	})
	return err
}

// Forget deletes a worker that has left, before its time (ForgetWorkers). If it comes
// back, it registers again. Errors: worker_not_found; worker_in_use while it is online or
// holds a frame, and when it has submitted a benchmark.
func Forget(ctx context.Context, tx *db.Tx, workerID string) error {
	if _, err := readWorker(ctx, tx, workerID); err != nil {
		return err
	}
	n, err := tx.WorkerDelete(ctx, query.WorkerDeleteParams{WorkerID: workerID, OnlineSince: onlineSince(tx)})
	if err == nil && n == 0 {
		return fault.New(fault.WorkerInUse, "Worker %s is online, holds a frame or has submitted a benchmark.", workerID)
	}
	if err != nil {
		return fmt.Errorf("forget worker %s: %w", workerID, err)
	}
	return nil
}

// FindWorker reads a worker as ListWorkers shows it. Error: worker_not_found.
func FindWorker(ctx context.Context, tx *db.Tx, workerID string) (WorkerView, error) {
	row, err := readWorker(ctx, tx, workerID)
	if err != nil {
		return WorkerView{}, err
	}
	held, err := HeldBy(ctx, tx, workerID)
	return viewOf(row, len(held), tx), err
}

func readWorker(ctx context.Context, tx *db.Tx, workerID string) (query.Worker, error) {
	row, err := tx.WorkerGet(ctx, workerID)
	if db.IsNotFound(err) {
		return row, fault.New(fault.WorkerNotFound, "There is no worker %s.", workerID)
	}
	if err != nil {
		return row, fmt.Errorf("read worker: %w", err)
	}
	return row, nil
}

// HeldFrame is a frame in a worker's hands.
type HeldFrame struct {
	JobID    string    `json:"job_id"`
	Frame    int64     `json:"frame"`
	WorkerID string    `json:"worker_id"`
	Attempt  int64     `json:"attempt"`
	Progress float64   `json:"progress_percent"`
	LapsesAt time.Time `json:"lapses_at"` // unless a heartbeat comes
}

// HeldBy lists the frames that a worker holds, HeldOf those of a job: 1000 at most.
func HeldBy(ctx context.Context, tx *db.Tx, workerID string) ([]HeldFrame, error) {
	return heldFrames(ctx, tx, query.FramesHeldParams{WorkerID: workerID})
}

// HeldOf lists the frames of a job that workers hold.
func HeldOf(ctx context.Context, tx *db.Tx, jobID string) ([]HeldFrame, error) {
	return heldFrames(ctx, tx, query.FramesHeldParams{JobID: jobID})
}

func heldFrames(ctx context.Context, tx *db.Tx, of query.FramesHeldParams) ([]HeldFrame, error) {
	rows, err := tx.FramesHeld(ctx, of)
	if err != nil {
		return nil, fmt.Errorf("list held frames: %w", err)
	}
	out := make([]HeldFrame, 0, len(rows))
	for _, r := range rows {
		out = append(out, HeldFrame{r.Subject, r.Item, r.Holder, r.Attempt, float64(r.Progress) / 10, db.Time(r.LapsesAt)})
	}
	return out, nil
}

// FailedFrame is a failed attempt at a frame, without Blender's output.
type FailedFrame struct {
	JobID    string    `json:"job_id"`
	Frame    int64     `json:"frame"`
	Attempt  int64     `json:"attempt"`
	WorkerID string    `json:"worker_id"`
	Code     string    `json:"code"`
	Message  string    `json:"message"`
	FailedAt time.Time `json:"failed_at"`
}

// FailuresBy lists the last failed attempts of a worker, FailuresOf those of a job: the
// newest first, at most most.
func FailuresBy(ctx context.Context, tx *db.Tx, workerID string, most int64) ([]FailedFrame, error) {
	return failedFrames(ctx, tx, query.FailedAttemptsOfParams{WorkerID: workerID, Max: most})
}

// FailuresOf lists the last failed attempts at a job's frames.
func FailuresOf(ctx context.Context, tx *db.Tx, jobID string, most int64) ([]FailedFrame, error) {
	return failedFrames(ctx, tx, query.FailedAttemptsOfParams{JobID: jobID, Max: most})
}

func failedFrames(ctx context.Context, tx *db.Tx, of query.FailedAttemptsOfParams) ([]FailedFrame, error) {
	rows, err := tx.FailedAttemptsOf(ctx, of)
	if err != nil {
		return nil, fmt.Errorf("list failed attempts: %w", err)
	}
	out := make([]FailedFrame, 0, len(rows))
	for _, r := range rows {
		out = append(out, FailedFrame{r.Subject, r.Item, r.Attempt, r.Holder, r.Code, r.Message, db.Time(r.FailedAt)})
	}
	return out, nil
}

// CountStranded counts the jobs whose frames wait and that no online worker can take, because
// of its kind, its tags or what its Blender lacks. untagged are
// those that a worker could take but for its tags. While no worker is online both are 0.
func CountStranded(ctx context.Context, tx *db.Tx) (jobs, untagged int64, err error) {
	n, err := tx.TurnsStranded(ctx, query.TurnsStrandedParams{Since: onlineSince(tx), Now: tx.Now})
	if err != nil {
		return 0, 0, fmt.Errorf("count stranded jobs: %w", err)
	}
	return n.Jobs, n.Untagged, nil
}

// Waiting is how many frames of a workspace wait for a worker.
type Waiting struct {
	WorkspaceID string
	Frames      int64
}

// WaitingOf lists the workspaces of which the most frames wait, and counts the frames that
// wait of all.
func WaitingOf(ctx context.Context, tx *db.Tx, most int) (of []Waiting, frames int64, err error) {
	rows, err := tx.TurnsWaitingMost(ctx, int64(most))
	if err != nil {
		return nil, 0, fmt.Errorf("count the frames that wait: %w", err)
	}
	for _, r := range rows {
		of, frames = append(of, Waiting{r.Party, r.Waiting}), r.Total
	}
	return of, frames, nil
}

// WorkspaceDemand is the frames of a workspace that wait or are in workers' hands, by what
// the Blender that renders them must be built with.
type WorkspaceDemand struct {
	Tags   workertags.Set // that its workers must have
	Frames map[buildoption.Set]FrameDemand
}

// FrameDemand is some frames that wait or are in workers' hands.
type FrameDemand struct {
	Waiting, Held int64
	// Measured are those, of both, whose jobs have finished frames, and MeasuredUs is the
	// time that they take if they are like those.
	Measured, MeasuredUs int64 // frames; microseconds
}

// FindDemand counts the frames that workers are wanted for, by workspace. It names none: an
// autoscaler needs to know how many there are, and not whose.
func FindDemand(ctx context.Context, tx *db.Tx) (all []WorkspaceDemand, err error) {
	jobs, err := tx.DemandOfJobs(ctx)
	if err != nil {
		return nil, fmt.Errorf("count the frames of jobs: %w", err)
	}
	pools, err := tx.Pools(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the pools: %w", err)
	}
	room := int64(0)
	workspace := ""
	for _, j := range jobs {
		if j.Waiting+j.Held == 0 {
			continue // the last pictures are being packaged
		}
		if j.Within != workspace {
			workspace, all = j.Within, append(all, WorkspaceDemand{tagsOf(pools, j.Pools), map[buildoption.Set]FrameDemand{}})
			room = math.MaxInt64
			if j.MostHeld > 0 {
				room = j.MostHeld
			}
		}
		// More than its limit is worth no worker.
		j.Held = min(j.Held, room)
		j.Waiting = min(j.Waiting, room-j.Held)
		room -= j.Held + j.Waiting
		of := all[len(all)-1].Frames
		d := of[buildoption.Set(j.Needs)]
		d.Waiting, d.Held = d.Waiting+j.Waiting, d.Held+j.Held
		if j.FramesCompleted > 0 {
			d.Measured += j.Waiting + j.Held
			d.MeasuredUs += (j.Waiting + j.Held) * (j.RenderUs / j.FramesCompleted)
		}
		of[buildoption.Set(j.Needs)] = d
	}
	return all, nil
}
