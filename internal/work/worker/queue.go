package worker

import (
	"context"
	"errors"
	"math"
	"strings"
	"time"

	"svc.example/internal/render/blender"
	"svc.example/internal/render/buildoption"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/worker/blenders"
)

// A worker prefetches as many frames as it renders in prefetchTime, so that a short
// frame does not wait for the network. Long frames are leased one at a time, so that
// other workers find some.
const (
	prefetchTime = 3 * time.Second
	prefetchMax  = 16
	pollDuration = 20 * time.Second // of a long poll
	// While the last leased frame renders, the worker asks for the next one of its job this
	// long before its expected end: late enough that an idle worker gets the frame first.
	askLead = 500 * time.Millisecond
	// For another job's frame it asks so much earlier: the job's files have to be here by
	// then.
	askLeadOther = 3 * time.Second
	// A CPU worker starts its spare process after it has been idle for this long,
	// because a start would take cores from the delivery of the last frame. A GPU
	// worker starts it during the last frame.
	spareDelay = 300 * time.Millisecond
)

// errUnable reports that this machine is at fault, not the frame: no process starts,
// or the disk fails. The frame is given back and the worker backs off.
var errUnable = errors.New("this worker is not able to work now")

// unableTry selects the pause of a worker that is unable to work: as after so many failed
// calls. That pause is 2 to 4 seconds: long enough not to drain a job's frames one by one,
// short enough for a disk that was full for a moment.
const unableTry = 5

// frameQueue holds the leased frames that wait for this worker's Blender. Only the
// rendering goroutine uses it. Near the end of a job it may hold frames of the next one
// too.
type frameQueue struct {
	tasks   []*task         // in the order of the replies
	pending chan leaseReply // of capacity 1: the reply of the open lease call; nil without one
	job     string          // id of the newest reply's job
	waiting int             // unleased frames of that job at that time
	pace    time.Duration   // measured time of a frame of that job; 0 before the first
	ended   chan struct{}   // closed when the running frame ends
	running *task           // that frame; nil between frames
}

// leaseReply is the outcome of one lease call.
type leaseReply struct {
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

// measure updates the pace with the time of a frame of a job. Recent frames count most, since neighbours
// in an animation cost alike. The least pace is a millisecond, so that prefetchCount can
// divide by it.
func (q *frameQueue) measure(job string, d time.Duration) {
	if job != q.job {
		return // the newest reply brought another job, whose pace is unknown yet
	}
	if q.pace == 0 {
		q.pace = d
	}
	q.pace = max((q.pace+d)/2, time.Millisecond)
}

// renderLoop renders leased frames one by one until ctx ends. drainCtx outlives ctx and
// serves the calls that return what is left. It alone uses the pool and the guards, so none
// of them needs a lock.
func (l *slot) renderLoop(ctx, drainCtx context.Context) {
	q := frameQueue{}
	defer func() { l.drain(drainCtx, &q) }()
	for ctx.Err() == nil {
		if l.place.Index == 0 {
			l.blenders.WaitAlone(ctx)
		}
		if l.draining() {
			l.log.Info("the worker takes no more frames, as it was told, and stops")
			return
		}
		if l.place.Finishing() {
			return
		}
		if !l.refill(ctx, &q) {
			return
		}
		if len(q.tasks) == 0 {
			continue
		}
		next := q.tasks[0]
		q.tasks = q.tasks[1:]
		var err error
		l.begin()
		if next.job.Aside() {
			err = l.preview(ctx, drainCtx, &q, next)
		} else {
			err = l.renderTask(ctx, drainCtx, &q, next)
		}
		l.end()
		// Only this machine's own failures slow it down. A frame that fails is reported, and
		// the next one may be sound.
		if errors.Is(err, errUnable) && l.backOff(ctx, &outage{call: "render"}, unableTry, err) != nil {
			return
		}
	}
}

// renderTask renders the next frame of the queue. Meanwhile the worker prepares for the
// next one.
func (l *slot) renderTask(ctx, drainCtx context.Context, q *frameQueue, next *task) error {
	next.lastInSight = q.waiting == 0 && len(q.tasks) == 0
	q.ended, q.running = make(chan struct{}), next
	if len(q.tasks) == 0 && q.pending == nil && q.pace > 0 && !l.draining() && !l.place.Finishing() {
		l.requestFrames(ctx, q, 1, 0, max(q.pace-q.lead(), 0))
	}
	l.fetchAhead(q)
	took, err := l.renderBeside(ctx, drainCtx, q, next)
	close(q.ended)
	q.running = nil
	if err == nil {
		q.measure(next.job.JobID, took)
	}
	return err
}

// lead is how long before a frame's end the worker asks for the next one.
func (q *frameQueue) lead() time.Duration {
	if q.waiting > 0 {
		return askLead
	}
	return askLeadOther
}

// renderBeside renders a frame. Meanwhile it takes the reply of the open lease call, so that
// heartbeats extend those leases, and begins to fetch the next job's files. A job's first
// frame has no pace to go by: its own progress tells when to ask for the next one.
func (l *slot) renderBeside(ctx, drainCtx context.Context, q *frameQueue, next *task) (took time.Duration, err error) {
	// Until it is done, the pool is its own.
	done := make(chan struct{})
	go func() {
		defer close(done)
		took, err = l.render(ctx, drainCtx, next)
	}()
	asks := q.pace == 0 && q.pending == nil && len(q.tasks) == 0
	look := time.NewTicker(askLead)
	defer look.Stop()
	for {
		select {
		case <-done:
			return took, err
		case got := <-q.pending: // a nil channel is never ready
			l.enqueue(q, got)
			l.fetchAhead(q)
		case <-look.C:
			if left, ok := next.remaining(); asks && ok && left <= q.lead() && !l.draining() && !l.place.Finishing() && ctx.Err() == nil {
				asks = false
				l.requestFrames(ctx, q, 1, 0, 0)
			}
		}
	}
}

// refill takes the server's reply, asks for more frames when needed, and waits while there
// is nothing to render. It returns false when ctx ends. At most one lease call is open at
// a time: how many frames to ask for depends on what the last call brought.
func (l *slot) refill(ctx context.Context, q *frameQueue) bool {
	if q.pending == nil {
		switch n := q.prefetchCount(); {
		case len(q.tasks) == 0:
			l.requestFrames(ctx, q, max(n, 1), pollDuration, 0)
		case n > 0:
			l.requestFrames(ctx, q, n, 0, 0)
		}
	}
	if len(q.tasks) > 0 {
		select {
		case got := <-q.pending: // a nil channel is never ready
			l.enqueue(q, got)
		default:
		}
		return true
	}
	spareTimer := time.NewTimer(spareDelay)
	defer spareTimer.Stop()
	idle := l.idleTimer()
	defer idle.Stop()
	for {
		select {
		case got := <-q.pending:
			l.enqueue(q, got)
			return ctx.Err() == nil
		case <-spareTimer.C:
			if q.waiting == 0 {
				l.pool.warm() // the next frame is likely another job's
			}
		case <-idle.C:
			if left := l.cfg.ExitIdle - l.machine.idle(); left > 0 { // another slot, or worker, has worked
				idle.Reset(left)
				continue
			}
			if l.out.Next() != "" { // a result that only this machine has
				idle.Reset(l.pace())
				continue
			}
			l.log.Info("no frame came for a while, so the worker stops", "exit_idle", l.cfg.ExitIdle)
			l.leave()
		case <-l.cfg.Drain:
			return true // the loop sees it
		case <-l.place.Finish():
			return true
		case <-ctx.Done():
			return false
		}
	}
}

// idleTimer fires when the worker has been idle for too long: never without ExitIdle.
func (l *slot) idleTimer() *time.Timer {
	if l.cfg.ExitIdle <= 0 {
		return time.NewTimer(math.MaxInt64)
	}
	return time.NewTimer(max(0, l.cfg.ExitIdle-l.machine.idle()))
}

// draining reports whether the worker was told to take no more frames.
func (w *Worker) draining() bool {
	select {
	case <-w.cfg.Drain:
		return true
	default:
		return false
	}
}

// last is the last frame that the worker has of a job whose frames depend on those before;
// nil where it has none, or they do not.
func (q *frameQueue) last(a *openJob) (frame *int) {
	if !a.opened.Plays {
		return nil
	}
	frame = a.last
	for _, t := range append([]*task{q.running}, q.tasks...) {
		if t != nil && t.job.JobID == a.job.JobID && (frame == nil || t.lease.Frame > *frame) {
			frame = new(t.lease.Frame)
		}
	}
	return frame
}

// requestFrames requests n frames, preferably of the open job, after a delay or as soon as
// the running frame ends. The call runs during the render. It outlives the frame, and
// repeats itself while the server cannot be reached.
func (l *slot) requestFrames(ctx context.Context, q *frameQueue, n int, wait, delay time.Duration) {
	// The open job is a preference, not a condition: the server may answer with another one.
	req := farmapi.LeaseRequest{Max: n, WaitSeconds: wait.Seconds(), Previews: wait > 0, Movies: wait > 0 && l.encodes}
	if t := q.running; t != nil && t.renders() { // the pool is the render's own by now
		req.JobID, req.After = t.job.JobID, t.after()
	} else if a := l.pool.open; a != nil {
		req.JobID, req.After = a.job.JobID, q.last(a)
	}
	pending, ended := make(chan leaseReply, 1), q.ended
	q.pending = pending
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
		got := leaseReply{waited: wait > 0}
		got.err = l.persist(ctx, "lease", func(workerID string) (err error) {
			req.WorkerID = workerID
			got.reply, err = l.cfg.Farm.Lease(ctx, req)
			return err
		})
		if got.err != nil && ctx.Err() == nil { // an immediate repetition would be refused too
			_ = l.backOff(ctx, &outage{call: "lease"}, unableTry, got.err)
		}
		pending <- got
	}()
}

// enqueue queues the frames of a reply. From here on heartbeats extend the leases.
func (l *slot) enqueue(q *frameQueue, got leaseReply) {
	q.pending = nil
	switch {
	case got.err != nil:
		return // requestFrames has logged it
	case got.reply.Job == nil || len(got.reply.Leases) == 0:
		q.waiting = 0
		if got.waited && q.running == nil { // while a frame renders, the pool is the renderer's
			l.endUnused()
		}
		return
	}
	// Another scene has another pace.
	if q.job != got.reply.Job.JobID {
		q.job, q.pace = got.reply.Job.JobID, 0
	}
	q.waiting = got.reply.Job.FramesWaiting
	for _, lease := range got.reply.Leases {
		q.tasks = append(q.tasks, l.held.take(*got.reply.Job, lease))
	}
}

// endUnused ends the process whose scene no further job has asked for, to free the memory that
// it takes.
func (l *slot) endUnused() {
	if a := l.pool.open; a != nil && time.Since(a.used) >= l.cfg.KeepScene {
		l.pool.clear()
	}
}

// drain gives back the queued frames when the worker stops, and also what the open lease
// call brings. Without it the frames would wait until their leases lapse. The open call
// ends with ctx, but its reply may have been on the way.
func (l *slot) drain(drainCtx context.Context, q *frameQueue) {
	if q.pending != nil {
		l.enqueue(q, <-q.pending)
	}
	l.giveBack(drainCtx, q.tasks...)
	q.tasks = nil
	l.fetchAhead(q) // ends the one that there is
}

// render renders one frame and passes it on. It returns Blender's time. Before it
// returns an error, it has reported or given back the lease.
func (l *slot) render(ctx, drainCtx context.Context, t *task) (took time.Duration, err error) {
	if t.ctx.Err() != nil {
		return 0, context.Cause(t.ctx)
	}
	// Three things end a render: a lost lease (t.ctx), the stop of the worker (ctx, after the
	// grace), and the end of this function.
	running, end := context.WithCancelCause(t.ctx)
	defer end(nil)
	stop := context.AfterFunc(ctx, func() { l.endSoon(running, end, t) })
	defer stop()
	a, err := l.openJob(running, t)
	if err == nil {
		if t.lastInSight && l.cfg.Device == blender.GPU {
			l.pool.warm() // the next frame is likely another job's
		}
		var f blender.Frame
		if f, took, err = l.playAndRender(running, a, t); err == nil {
			l.deliver(ctx, drainCtx, a, t, f)
			return took, nil
		}
		// The state of the process is unknown now, so it ends.
		l.wholeFailed(running, end, a, err)
		l.keptDataFailed(a, err)
		l.pool.clear()
	}
	cause := context.Cause(running)
	if cause == nil && l.crowded(err) {
		cause = blenders.ErrAlone
	}
	if cause == nil && a != nil && l.dividedInstead(a, err) {
		cause = errInStrips
	}
	if cause == nil && ctx.Err() != nil {
		// A scheduler signals every process of a machine, Blender too. What fails during a
		// stop may be the stop's doing, so it proves nothing about the frame.
		cause = errStopped
	}
	l.giveUp(drainCtx, t, cause, err)
	return 0, err
}

// playAndRender renders a frame after those that it depends on were computed. It returns
// the time that only the frame took.
func (l *slot) playAndRender(ctx context.Context, a *openJob, t *task) (f blender.Frame, took time.Duration, err error) {
	if a.opened.Plays {
		limited, cancel := context.WithTimeout(ctx, l.playTime())
		defer cancel()
		begun := time.Now()
		if t.played, err = a.Play(limited, t.lease.Frame); err != nil {
			return f, 0, err
		}
		if t.played > 0 {
			t.playTime = time.Since(begun)
		}
	}
	begun := t.begin(a.opened.Plays)
	f, err = l.renderFrame(ctx, a, t)
	if err == nil {
		a.last, a.used = new(t.lease.Frame), time.Now()
	}
	return f, time.Since(begun), err
}

// endSoon ends a running frame after the grace period, or at once when its progress shows
// that it needs longer. An estimate is better than a fixed rule: a frame that is nearly
// done is worth its wait, and one that has hardly begun is better begun elsewhere at once.
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

// giveUp reports an unfinished frame according to the reason. A lost lease is not reported,
// because the server would refuse it. A frame given back does not count as a failure: the
// log of a stopped one has only the stop, since Blender's own error follows from it and
// would read as a fault of the scene. Everything else is a failed attempt, whose code
// decides what the server does next.
func (w *Worker) giveUp(drainCtx context.Context, t *task, cause, err error) {
	log := w.log.With("job_id", t.job.JobID, "frame", t.lease.Frame, "lease_id", t.lease.LeaseID)
	var failed *blender.Error
	switch {
	case errors.Is(cause, errLost), refused(err) && !errors.Is(err, errDamaged):
		log.Warn("frame given up: it is not this worker's any longer", "err", err)
		w.held.drop(t.lease.LeaseID, t.lease.Attempt)
	case errors.Is(cause, errStopped), errors.Is(cause, errFrameCame), errors.Is(cause, blenders.ErrAlone), errors.Is(cause, errInTiles), errors.Is(cause, errInStrips):
		log.Info("frame given back", "reason", cause)
		w.giveBack(drainCtx, t)
	case errors.Is(err, errUnable):
		log.Warn("frame given back: this machine cannot work now", "reason", err)
		w.release(drainCtx, farmapi.ReleaseRequest{Unable: strings.TrimPrefix(err.Error(), errUnable.Error()+"\n")}, t)
	case lacksEncoder(err):
		log.Warn("movie given back: other workers encode", "reason", err)
		w.release(drainCtx, farmapi.ReleaseRequest{Lacks: []buildoption.Option{buildoption.Encoders}}, t)
	case errors.As(err, &failed):
		w.fail(t, failed)
	case errors.Is(err, errDamaged): // in transit, or in the service's store: it looks
		w.fail(t, &blender.Error{Code: inputDamaged, Message: err.Error()})
	default: // an invalid reply of Blender
		w.fail(t, &blender.Error{Code: blender.Crashed, Message: err.Error()})
	}
}

// giveBack releases leases that were not rendered.
func (w *Worker) giveBack(drainCtx context.Context, tasks ...*task) {
	w.release(drainCtx, farmapi.ReleaseRequest{}, tasks...)
}

// release returns leases; why says what this machine cannot do where that is the reason. It
// calls once: otherwise the leases lapse.
func (w *Worker) release(drainCtx context.Context, why farmapi.ReleaseRequest, tasks ...*task) {
	var held []farmapi.Held
	for _, t := range tasks {
		if t.ctx.Err() == nil { // otherwise the lease is lost already
			held = append(held, t.held())
		}
		w.held.drop(t.lease.LeaseID, t.lease.Attempt)
	}
	if len(held) == 0 {
		return
	}
	why.WorkerID, why.Leases = w.id(), held
	if err := w.cfg.Farm.Release(drainCtx, why); err != nil {
		w.log.Warn("leases could not be returned; they will expire", "leases", len(held), "err", err)
	}
}
