package worker

import (
	"context"
	"errors"
	"time"

	"svc.example/internal/ground/blender"
	"svc.example/internal/ground/farmapi"
)

// A worker prefetches as many frames as it renders in prefetchTime, so that a short
// frame does not wait for the network. Long frames are leased one at a time, so that
// other workers find some.
const (
	prefetchTime = 3 * time.Second
	prefetchMax  = 16
	pollDuration = 20 * time.Second // of a long poll
	// While the last leased frame renders, the worker asks for the next one this long
	// before its expected end: late enough that an idle worker gets the frame first.
	askLead = 500 * time.Millisecond
	// A CPU worker starts its spare process after it has been idle for this long,
	// because a start would take cores from the delivery of the last frame. A GPU
	// worker starts it beside the last frame.
	spareDelay = 300 * time.Millisecond
)

// errUnable reports that this machine is at fault, not the frame: no process starts,
// or the disk fails. The frame is given back and the worker backs off.
var errUnable = errors.New("this worker is not able to work now")

// unableTry selects the pause of a worker that is unable to work: as after so many
// failed calls.
const unableTry = 5

// frameQueue holds the leased frames that wait for this worker's Blender.
type frameQueue struct {
	tasks   []*task
	asked   chan answer // the open lease call; nil without one
	job     string      // id of the newest reply's job
	waiting int         // unleased frames of that job at that time
	pace    time.Duration
	ended   chan struct{} // closed when the running frame ends
}

type answer struct {
	reply  farmapi.LeaseReply
	err    error
	waited bool // it was a long poll
}

// prefetchCount returns how many frames to ask for now: what fits into prefetchTime
// at the measured pace, but at most half of the unleased frames, so that another
// worker finds some. It returns 0 when nothing needs to be prefetched.
func (q *frameQueue) prefetchCount() int {
	if q.pace <= 0 {
		return 0
	}
	most := min(int(prefetchTime/q.pace), prefetchMax) - len(q.tasks)
	return max(min(most, (q.waiting+1)/2), 0)
}

// measure updates the pace with a frame's time. Recent frames count most, since
// neighbours in an animation cost alike.
func (q *frameQueue) measure(d time.Duration) {
	if q.pace == 0 {
		q.pace = d
	}
	q.pace = max((q.pace+d)/2, time.Millisecond)
}

// renderLoop renders leased frames one by one until ctx ends. drainCtx outlives ctx
// and serves the calls that return what is left.
func (w *Worker) renderLoop(ctx, drainCtx context.Context) {
	var q frameQueue
	defer func() { w.drain(drainCtx, &q) }()
	for ctx.Err() == nil {
		if len(q.tasks) == 0 && q.waiting == 0 && q.asked == nil {
			w.compareHeld(ctx, drainCtx) // no more frames of the job are in sight
		}
		if !w.refill(ctx, &q) {
			return
		}
		if len(q.tasks) == 0 {
			continue
		}
		next := q.tasks[0]
		q.tasks = q.tasks[1:]
		if a := w.pool.open; a != nil && a.job.JobID != next.job.JobID {
			w.compareHeld(ctx, drainCtx)
		}
		if q.waiting == 0 && len(q.tasks) == 0 && w.cfg.Device == blender.GPU {
			w.pool.warm() // start it beside the last frame in sight
		}
		q.ended = make(chan struct{})
		if len(q.tasks) == 0 && q.asked == nil && q.waiting > 0 && q.pace > 0 {
			w.ask(ctx, &q, 1, 0, max(q.pace-askLead, 0))
		}
		took, err := w.render(ctx, drainCtx, next)
		close(q.ended)
		if err == nil {
			q.measure(took)
		}
		if errors.Is(err, errUnable) && w.backOff(ctx, "render", unableTry, err) != nil {
			return
		}
	}
}

// refill takes the server's reply, asks for more frames when needed, and waits while
// there is nothing to render. It returns false when ctx ends.
func (w *Worker) refill(ctx context.Context, q *frameQueue) bool {
	if q.asked == nil {
		switch n := q.prefetchCount(); {
		case len(q.tasks) == 0:
			w.ask(ctx, q, max(n, 1), w.pollWait(), 0)
		case n > 0:
			w.ask(ctx, q, n, 0, 0)
		}
	}
	if len(q.tasks) > 0 {
		select {
		case got := <-q.asked: // a nil channel is never ready
			w.take(q, got)
		default:
		}
		return true
	}
	calm := time.NewTimer(spareDelay)
	defer calm.Stop()
	for {
		select {
		case got := <-q.asked:
			w.take(q, got)
			return ctx.Err() == nil
		case <-calm.C:
			if q.waiting == 0 {
				w.pool.warm() // the next frame is likely another job's
			}
		case <-ctx.Done():
			return false
		}
	}
}

// pollWait is how long the server may look for a frame. While frames are held it
// answers at once, so that they are compared and delivered soon.
func (w *Worker) pollWait() time.Duration {
	if a := w.pool.open; a != nil && len(a.guard.held) > 0 {
		return 0
	}
	return pollDuration
}

// ask requests n frames, preferably of the open job, after a delay or as soon as the
// running frame ends.
func (w *Worker) ask(ctx context.Context, q *frameQueue, n int, wait, delay time.Duration) {
	req := farmapi.LeaseRequest{Max: n, WaitSeconds: wait.Seconds()}
	if w.pool.open != nil {
		req.JobID = w.pool.open.job.JobID
	}
	asked, ended := make(chan answer, 1), q.ended
	q.asked = asked
	go func() {
		if delay > 0 {
			later := time.NewTimer(delay)
			select {
			case <-later.C:
			case <-ended:
			case <-ctx.Done():
			}
			later.Stop()
		}
		got := answer{waited: wait > 0}
		got.err = w.persist(ctx, "lease", func(workerID string) (err error) {
			req.WorkerID = workerID
			got.reply, err = w.cfg.Farm.Lease(ctx, req)
			return err
		})
		if got.err != nil && ctx.Err() == nil { // an immediate repetition would be refused too
			_ = w.backOff(ctx, "lease", unableTry, got.err)
		}
		asked <- got
	}()
}

// take queues the frames of a reply.
func (w *Worker) take(q *frameQueue, got answer) {
	q.asked = nil
	switch {
	case got.err != nil:
		return // ask has logged it
	case got.reply.Job == nil || len(got.reply.Leases) == 0:
		q.waiting = 0
		if got.waited {
			w.pool.clear() // a whole poll brought nothing: free the memory that the file takes
		}
		return
	}
	if q.job != got.reply.Job.JobID {
		q.job, q.pace = got.reply.Job.JobID, 0
	}
	q.waiting = got.reply.Job.FramesWaiting
	for _, lease := range got.reply.Leases {
		q.tasks = append(q.tasks, w.held.take(*got.reply.Job, lease))
	}
}

// drain gives back the queued frames when the worker stops, and also what the open
// lease call brings.
func (w *Worker) drain(drainCtx context.Context, q *frameQueue) {
	if q.asked != nil {
		w.take(q, <-q.asked)
	}
	w.releaseHeld(drainCtx)
	w.giveBack(drainCtx, q.tasks...)
}

// render renders one frame and passes it on. It returns Blender's time. Before it
// returns an error, it has reported or given back the lease.
func (w *Worker) render(ctx, drainCtx context.Context, t *task) (took time.Duration, err error) {
	if t.ctx.Err() != nil {
		return 0, context.Cause(t.ctx)
	}
	running, end := context.WithCancelCause(t.ctx)
	defer end(nil)
	stop := context.AfterFunc(ctx, func() { w.endSoon(running, end, t) })
	defer stop()
	a, err := w.openJob(running, t.job)
	if err == nil {
		begun := t.begin()
		var f blender.Frame
		if f, err = a.renderFrame(running, t); err == nil {
			took = time.Since(begun)
			w.deliverOrHold(ctx, drainCtx, a, t, f)
			return took, nil
		}
		w.keptDataFailed(a, err)
		w.releaseHeld(drainCtx)
		w.pool.clear()
	}
	w.giveUp(drainCtx, t, context.Cause(running), err)
	return 0, err
}

// endSoon ends a running frame after the grace period, or at once when its progress
// shows that it needs longer.
func (w *Worker) endSoon(running context.Context, end context.CancelCauseFunc, t *task) {
	if left, ok := t.remaining(); ok && left > w.cfg.Grace {
		end(errStopped)
		return
	}
	timer := time.NewTimer(w.cfg.Grace)
	defer timer.Stop()
	select {
	case <-timer.C:
		end(errStopped)
	case <-running.Done():
	}
}

// giveUp reports an unfinished frame according to the reason.
func (w *Worker) giveUp(drainCtx context.Context, t *task, cause, err error) {
	log := w.log.With("job", t.job.JobID, "frame", t.lease.Frame, "lease", t.lease.LeaseID)
	var failed *blender.Error
	switch {
	case errors.Is(cause, errLost), refused(err) && !errors.Is(err, errDamaged):
		log.Warn("frame given up: it is not this worker's any longer", "error", err)
		w.held.drop(t.lease.LeaseID, t.lease.Attempt)
	case errors.Is(cause, errStopped), errors.Is(err, errUnable):
		log.Info("frame given back", "reason", err)
		w.giveBack(drainCtx, t)
	case errors.As(err, &failed):
		w.fail(t, failed)
	default: // damaged in transit, or an invalid reply of Blender
		w.fail(t, &blender.Error{Code: blender.Crashed, Message: err.Error()})
	}
}

// giveBack releases leases that were not rendered. It calls once: otherwise they
// expire by themselves.
func (w *Worker) giveBack(drainCtx context.Context, tasks ...*task) {
	var held []farmapi.Held
	for _, t := range tasks {
		if t.ctx.Err() == nil {
			held = append(held, t.held())
		}
		w.held.drop(t.lease.LeaseID, t.lease.Attempt)
	}
	if len(held) == 0 {
		return
	}
	if err := w.cfg.Farm.Release(drainCtx, farmapi.ReleaseRequest{WorkerID: w.id(), Leases: held}); err != nil {
		w.log.Warn("leases could not be given back, they lapse by themselves", "leases", len(held), "error", err)
	}
}
