package worker

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"svc.example/internal/ground/farmapi"
)

// errLost is the cause of the end of a frame whose lease is another's by now;
// errStopped that of one that will not be done in the time that is left.
var (
	errLost    = errors.New("the lease is lost")
	errStopped = errors.New("the worker stops")
)

// task is a leased frame on its way.
type task struct {
	job   farmapi.Job
	lease farmapi.Lease
	ctx   context.Context // ends with errLost, or when the lease is reported on
	end   context.CancelCauseFunc

	mu       sync.Mutex
	began    time.Time
	progress float64 // 0 to 1
	told     float64 // of it, to the server
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

// untold is how far the frame has come since that was last told.
func (t *task) untold() float64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.progress - t.told
}

func (t *task) held() farmapi.Held {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.told = t.progress
	return farmapi.Held{LeaseID: t.lease.LeaseID, Attempt: t.lease.Attempt, Progress: t.progress}
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

func (h *holdings) take(job farmapi.Job, lease farmapi.Lease) *task {
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

func (h *holdings) list() []farmapi.Held {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make([]farmapi.Held, 0, len(h.tasks))
	for _, t := range h.tasks {
		all = append(all, t.held())
	}
	slices.SortFunc(all, func(a, b farmapi.Held) int { return strings.Compare(a.LeaseID, b.LeaseID) })
	return all
}

// A heartbeat is sent before it is due when a frame has moved on by tellStep, but
// at most once in tellPace: so who watches sees a long frame move, and no frame
// costs the server more than twenty writes for it.
const (
	tellPace = time.Second
	tellStep = 0.05
)

// moved says that a frame's progress is worth telling before the beat is due.
func (h *holdings) moved() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range h.tasks {
		if t.untold() >= tellStep {
			return true
		}
	}
	return false
}

// beat keeps the held leases alive until ctx ends.
func (w *Worker) beat(ctx context.Context) {
	last := time.Now()
	for {
		due := time.Until(last.Add(w.pace()))
		timer := time.NewTimer(min(due, tellPace))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		if due > tellPace && !w.held.moved() {
			continue
		}
		last = time.Now()
		w.beatOnce(ctx)
	}
}

// beatOnce sends a heartbeat when there is a lease to keep. The next one is the
// repetition of one that fails.
func (w *Worker) beatOnce(ctx context.Context) {
	held := w.held.list()
	if len(held) == 0 {
		return
	}
	id := w.id()
	reply, err := w.cfg.Farm.Heartbeat(ctx, farmapi.HeartbeatRequest{WorkerID: id, Leases: held})
	if unregistered(err) {
		err = w.register(ctx, id)
	}
	if err != nil {
		w.log.Warn("the heartbeat failed", "leases", len(held), "error", err)
		return
	}
	if len(reply.Lost) > 0 {
		w.log.Warn("leases are lost, their frames are given up", "leases", reply.Lost)
		w.held.lose(reply.Lost)
	}
}
