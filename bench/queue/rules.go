package queue

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/dispatch"
)

// FairTurns returns what each kind waits under the service's own rule. folder is an empty
// one for the database.
func (f Farm) FairTurns(ctx context.Context, folder string) (all []Waits, err error) {
	d, err := db.Open(ctx, db.Config{URL: filepath.Join(folder, "queue.db"), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	// One transaction: nothing of it is kept, and it costs no sync for each frame.
	err = d.Write(ctx, func(tx *db.Tx) (err error) {
		all, err = f.waits(ctx, func(jobs []*job) rule {
			t := &fairTurns{tx: tx, began: tx.Now, jobs: map[string]*job{}, held: map[int]lease.Ref{}}
			for _, j := range jobs {
				t.jobs[j.id] = j
			}
			return t
		})
		return err
	})
	if closeErr := d.Close(); err == nil {
		err = closeErr
	}
	return all, err
}

// fairTurns asks package dispatch.
type fairTurns struct {
	tx    *db.Tx
	began int64 // the transaction's time at the beginning, in microseconds
	jobs  map[string]*job
	held  map[int]lease.Ref // by worker
}

// leaseLife is longer than any frame: no simulated worker is lost.
const leaseLife = 30 * 24 * time.Hour

// at sets the database's time.
func (t *fairTurns) at(now time.Duration) { t.tx.Now = t.began + now.Microseconds() }

// asDispatch is what the job's row would say.
func asDispatch(j *job) dispatch.Job {
	return dispatch.Job{
		JobID: j.id, WorkspaceID: j.workspace, FrameCount: int64(len(j.frames)), FramesCompleted: int64(j.accepted), RenderUs: j.rendered.Microseconds(),
	}
}

func (t *fairTurns) start(ctx context.Context, now time.Duration, j *job) error {
	t.at(now)
	return dispatch.Enqueue(ctx, t.tx, asDispatch(j), dispatch.Span{First: 1, Step: 1, Count: int64(len(j.frames))})
}

func (t *fairTurns) claim(ctx context.Context, now time.Duration, worker int, open *job) (*job, error) {
	t.at(now)
	has := dispatch.OpenJob{}
	if open != nil {
		has.JobID = open.id
	}
	holder := fmt.Sprintf("WRK-%04d", worker)
	choice, err := dispatch.Next(ctx, t.tx, holder, has)
	if err != nil || choice.JobID == "" {
		return nil, err
	}
	// One frame: a worker takes more at once only where a frame takes a second or two.
	leases, err := dispatch.ClaimFrames(ctx, t.tx, holder, choice, 1, leaseLife)
	if err != nil {
		return nil, err
	}
	if len(leases) != 1 {
		return nil, fmt.Errorf("%s was chosen and has no frame", choice.JobID)
	}
	t.held[worker] = leases[0].Ref()
	j := t.jobs[choice.JobID]
	_, err = dispatch.RecordChoice(ctx, t.tx, asDispatch(j), choice, 1)
	return j, err
}

func (t *fairTurns) accept(ctx context.Context, now time.Duration, worker int, j *job) error {
	t.at(now)
	if err := lease.Finish(ctx, t.tx, t.held[worker]); err != nil {
		return err
	}
	switch j.accepted {
	case len(j.frames):
		return dispatch.Dequeue(ctx, t.tx, asDispatch(j))
	case 1:
		return dispatch.RecordFirstFrame(ctx, t.tx, asDispatch(j))
	}
	return nil
}

// FirstComeFirstServed returns what each kind waits when the job that started first has all
// workers until it has no frame left.
func (f Farm) FirstComeFirstServed(ctx context.Context) ([]Waits, error) {
	return f.waits(ctx, func([]*job) rule { return &inOrder{} })
}

// inOrder is a queue of jobs with frames that no worker has.
type inOrder struct{ waiting []*job }

func (o *inOrder) start(_ context.Context, _ time.Duration, j *job) error {
	o.waiting = append(o.waiting, j)
	return nil
}

func (o *inOrder) claim(context.Context, time.Duration, int, *job) (*job, error) {
	if len(o.waiting) == 0 {
		return nil, nil
	}
	j := o.waiting[0]
	if j.claimed+1 == len(j.frames) {
		o.waiting = o.waiting[1:]
	}
	return j, nil
}

func (o *inOrder) accept(context.Context, time.Duration, int, *job) error { return nil }
