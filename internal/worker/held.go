package worker

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"svc.example/internal/farm"
)

// errLost is the cause of the end of a frame whose lease is another's by now;
// errStopped that of one that will not be done in the time that is left.
var (
	errLost    = errors.New("the lease is lost")
	errStopped = errors.New("the worker stops")
)

// task is a leased frame on its way.
type task struct {
	job   farm.Job
	lease farm.Lease
	ctx   context.Context // ends with errLost, or when the lease is reported on
	end   context.CancelCauseFunc

	mu       sync.Mutex
	began    time.Time
	progress float64 // 0 to 1
}

// advance notes progress; a scene of several layers starts over with each, of
// which the greatest share counts.
func (t *task) advance(share float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.progress = max(t.progress, share)
}

func (t *task) begin() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.began = time.Now()
	return t.began
}

func (t *task) held() farm.Held {
	t.mu.Lock()
	defer t.mu.Unlock()
	return farm.Held{LeaseID: t.lease.LeaseID, Attempt: t.lease.Attempt, Progress: t.progress}
}

// remaining guesses how long the frame still takes; ok is false where nothing can
// be said yet.
func (t *task) remaining() (d time.Duration, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.began.IsZero() || t.progress <= 0 {
		return 0, false
	}
	return time.Duration(float64(time.Since(t.began)) * (1 - t.progress) / t.progress), true
}

// holdings are all leases the worker has and has not reported on.
type holdings struct {
	mu    sync.Mutex
	tasks map[string]*task // by lease id
}

func (h *holdings) take(job farm.Job, lease farm.Lease) *task {
	ctx, end := context.WithCancelCause(context.Background())
	t := &task{job: job, lease: lease, ctx: ctx, end: end}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.tasks == nil {
		h.tasks = make(map[string]*task)
	}
	h.tasks[lease.LeaseID] = t
	return t
}

// drop puts away a lease that is reported on, or lost. A later attempt of the same lease
// stays.
func (h *holdings) drop(leaseID string, attempt int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t := h.tasks[leaseID]; t != nil && t.lease.Attempt == attempt {
		t.end(nil)
		delete(h.tasks, leaseID)
	}
}

// lose ends the frames whose leases the server has taken away.
func (h *holdings) lose(leaseIDs []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, id := range leaseIDs {
		if t := h.tasks[id]; t != nil {
			t.end(errLost)
			delete(h.tasks, id)
		}
	}
}

func (h *holdings) list() []farm.Held {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make([]farm.Held, 0, len(h.tasks))
	for _, t := range h.tasks {
		all = append(all, t.held())
	}
	slices.SortFunc(all, func(a, b farm.Held) int { return strings.Compare(a.LeaseID, b.LeaseID) })
	return all
}

// beat keeps the held leases alive until ctx ends.
func (w *Worker) beat(ctx context.Context) {
	for {
		timer := time.NewTimer(w.pace())
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		held := w.held.list()
		if len(held) == 0 {
			continue
		}
		id := w.id()
		reply, err := w.cfg.Farm.Heartbeat(ctx, farm.HeartbeatRequest{WorkerID: id, Leases: held})
		if unregistered(err) {
			err = w.register(ctx, id)
		}
		if err != nil {
			// The next beat is the repetition.
			w.log.Warn("the heartbeat failed", "leases", len(held), "error", err)
			continue
		}
		if len(reply.Lost) > 0 {
			w.log.Warn("leases are lost, their frames are given up", "leases", reply.Lost)
			w.held.lose(reply.Lost)
		}
	}
}
