package worker

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"svc.example/internal/work/farmapi"
)

// errLost ends a frame whose lease now belongs to another worker. errStopped ends a
// frame that the worker cannot finish before it stops.
var (
	errLost    = errors.New("the lease is lost")
	errStopped = errors.New("the worker stops")
)

// task is a leased frame from its lease until its report. The rendering goroutine, the
// heartbeats and the check of its picture share it; mu guards what changes.
type task struct {
	job   farmapi.Job
	lease farmapi.Lease
	ctx   context.Context // ends with errLost, or when the lease is reported
	end   context.CancelCauseFunc

	leased time.Time

	// Used by the rendering goroutine until the picture is checked.
	lastInSight bool          // no other frame of its job was in sight when it began
	played      int           // frames that were computed before this one
	playTime    time.Duration // that they took
	fetchTime   time.Duration // for which it waited for the job's files
	openTime    time.Duration // for which it waited for Blender to open them

	mu       sync.Mutex
	began    time.Time // zero until Blender has the file open and renders
	plays    bool      // frames of the open file depend on those before
	progress float64   // 0 to 1
	reported float64   // the share of progress that the server knows
}

// advance records progress. A scene with several layers starts each at 0, so only the
// greatest share counts: progress never goes back.
func (t *task) advance(share float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.progress = max(t.progress, share)
}

// begin starts the frame's clock. Opening a file does not count: it is paid once for many
// frames, and remaining extrapolates from this time.
func (t *task) begin(plays bool) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.plays = plays
	t.began = time.Now()
	return t.began
}

// renders reports whether Blender has the file open and renders the frame, or has.
func (t *task) renders() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.began.IsZero()
}

// after is the frame's number if frames depend on earlier ones, otherwise nil.
func (t *task) after() *int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.plays {
		return nil
	}
	return new(t.lease.Frame)
}

// unreported returns the progress that the server does not know yet.
func (t *task) unreported() float64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.progress - t.reported
}

// held describes the lease for a call, and marks its progress as reported. A call that
// fails after it costs nothing but a later report of the same progress: the next heartbeat
// repeats the current value.
func (t *task) held() farmapi.Held {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reported = t.progress
	return farmapi.Held{LeaseID: t.lease.LeaseID, Attempt: t.lease.Attempt, Progress: t.progress}
}

// remaining estimates the rest of the frame's time from its progress; ok is false
// before there is progress.
func (t *task) remaining() (d time.Duration, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.began.IsZero() || t.progress <= 0 {
		return 0, false
	}
	// Samples take alike long, so the rest is proportional to what is done.
	return time.Duration(float64(time.Since(t.began)) * (1 - t.progress) / t.progress), true
}

// holdings are all leases that the worker has and has not reported. What is in it,
// heartbeats extend: a lease that is dropped here too early lapses on the server, and one
// that is kept too long blocks its frame. The zero value is empty.
type holdings struct {
	mu    sync.Mutex
	tasks map[string]*task // by lease id
}

// take adds a new lease. The task's context is of no other context: the stop of the worker
// does not lose a lease, only the server does.
func (h *holdings) take(job farmapi.Job, lease farmapi.Lease) *task {
	ctx, end := context.WithCancelCause(context.Background())
	t := &task{job: job, lease: lease, leased: time.Now(), ctx: ctx, end: end}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.tasks == nil {
		h.tasks = make(map[string]*task)
	}
	h.tasks[lease.LeaseID] = t
	return t
}

// drop removes a lease that is reported or lost. A later attempt of the same lease
// stays.
func (h *holdings) drop(leaseID string, attempt int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t := h.tasks[leaseID]; t != nil && t.lease.Attempt == attempt {
		t.end(nil) // frees the context; nothing waits for it any more
		delete(h.tasks, leaseID)
	}
}

// lose ends the frames whose leases the server has revoked. An id that is not held is
// ignored: the answer to a heartbeat may come after the report.
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

// list describes all held leases for a heartbeat, by id: a server that locks their rows in
// the order of the call then meets no other order.
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

// A heartbeat is sent early when a frame has progressed by progressStep, but at most
// once per progressInterval. A watcher then sees a long frame move, and no frame
// costs the server more than twenty extra writes.
const (
	progressInterval = time.Second
	progressStep     = 0.05
)

// hasNewProgress reports whether a frame's progress is worth an early heartbeat.
func (h *holdings) hasNewProgress() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range h.tasks {
		if t.unreported() >= progressStep {
			return true
		}
	}
	return false
}

// beat extends the held leases until stopped is closed or ctx ends. A slow call delays the
// next one, and never overlaps it. Only the end of ctx cuts a call off.
func (w *Worker) beat(ctx context.Context, stopped <-chan struct{}) {
	last, lost := time.Now(), outage{call: "heartbeat"}
	for {
		due := time.Until(last.Add(w.pace()))
		timer := time.NewTimer(min(due, progressInterval))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-stopped:
			timer.Stop()
			return
		case <-timer.C:
		}
		// Woken early: only progress is a reason to call before the pace.
		if due > progressInterval && !w.held.hasNewProgress() {
			continue
		}
		last = time.Now()
		w.beatOnce(ctx, &lost)
	}
}

// beatOnce sends a heartbeat when there is a lease to keep. It does not retry: the
// next heartbeat is the retry.
func (w *Worker) beatOnce(ctx context.Context, lost *outage) {
	held := w.held.list()
	if len(held) == 0 {
		return
	}
	id := w.id()
	reply, err := w.cfg.Farm.Heartbeat(ctx, farmapi.HeartbeatRequest{WorkerID: id, Leases: held})
	if unregistered(err) {
		// The leases belong to the old id. The next heartbeat names the new one, and the
		// server says which of them are lost.
		err = w.register(ctx, id)
	}
	if err != nil {
		w.log.Log(ctx, lost.level(err), "the heartbeat failed", "leases", len(held), "err", err)
		return
	}
	lost.over(w.log)
	if len(reply.Lost) > 0 {
		w.log.Warn("leases are lost, their frames are given up", "leases", reply.Lost)
		w.held.lose(reply.Lost)
	}
}
