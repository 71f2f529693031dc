package worker

import (
	"context"
	"errors"
	"time"

	"svc.example/internal/ground/blender"
	"svc.example/internal/ground/farmapi"
)

// A worker asks ahead for as many frames as it renders in aheadTime, so that no
// short frame waits for the network; of long frames it takes one at a time.
const (
	aheadTime  = 3 * time.Second
	aheadMost  = 16
	pollLength = 20 * time.Second // of a long poll
	// While the last frame of the line renders, the next one is asked for so long
	// before its end, by the pace: late enough that an idle worker finds it first.
	askLead = 500 * time.Millisecond
	// A worker that renders on the CPU starts the spare when it has been idle for so
	// long: the start would take the cores from the last frame's way to its caller.
	// One with a GPU starts it beside the last frame.
	spareDelay = 300 * time.Millisecond
)

// errUnable says that this machine, not the frame, is at fault: no process could be
// started, or the disk fails. The frame is given back and the worker rests.
var errUnable = errors.New("this worker is not able to work now")

// restTry is the try whose pause a worker rests for that is not able to work.
const restTry = 5

// line is the row of leased frames that wait for this worker's Blender.
type line struct {
	tasks   []*task
	asked   chan answer // the lease call under way, nil when none
	job     string      // of the newest answer
	waiting int         // frames of that job that nobody held then
	pace    time.Duration
	ended   chan struct{} // closed when the running frame has ended
}

type answer struct {
	reply  farmapi.LeaseReply
	err    error
	waited bool // a long poll
}

// wants says how many frames to ask for now: what fits into aheadTime by the
// measured pace, never more than half of what is left, so that another worker
// finds frames too. 0 where nothing is to be asked ahead.
func (l *line) wants() int {
	if l.pace <= 0 {
		return 0
	}
	most := min(int(aheadTime/l.pace), aheadMost) - len(l.tasks)
	return max(min(most, (l.waiting+1)/2), 0)
}

// measure takes in how long a frame took; the last ones count most.
func (l *line) measure(d time.Duration) {
	if l.pace == 0 {
		l.pace = d
	}
	l.pace = max((l.pace+d)/2, time.Millisecond)
}

// work renders leased frames one by one until ctx ends. wire outlives ctx.
func (w *Worker) work(ctx, wire context.Context) {
	var l line
	defer func() { w.leave(wire, &l) }()
	for ctx.Err() == nil {
		if len(l.tasks) == 0 && l.waiting == 0 && l.asked == nil {
			w.settle(ctx, wire) // no more of the job is in sight
		}
		if !w.fill(ctx, &l) {
			return
		}
		if len(l.tasks) == 0 {
			continue
		}
		next := l.tasks[0]
		l.tasks = l.tasks[1:]
		if a := w.stage.act; a != nil && a.job.JobID != next.job.JobID {
			w.settle(ctx, wire)
		}
		if l.waiting == 0 && len(l.tasks) == 0 && w.cfg.Device == blender.GPU {
			w.stage.warm() // beside the last frame in sight
		}
		l.ended = make(chan struct{})
		if len(l.tasks) == 0 && l.asked == nil && l.waiting > 0 && l.pace > 0 {
			w.ask(ctx, &l, 1, 0, max(l.pace-askLead, 0))
		}
		took, err := w.render(ctx, wire, next)
		close(l.ended)
		if err == nil {
			l.measure(took)
		}
		if errors.Is(err, errUnable) && w.rest(ctx, "render", restTry, err) != nil {
			return
		}
	}
}

// fill takes in what the server has answered, asks for more where more is wanted,
// and waits when there is nothing to render. It returns false when ctx ends.
func (w *Worker) fill(ctx context.Context, l *line) bool {
	if l.asked == nil {
		switch n := l.wants(); {
		case len(l.tasks) == 0:
			w.ask(ctx, l, max(n, 1), w.patience(), 0)
		case n > 0:
			w.ask(ctx, l, n, 0, 0)
		}
	}
	if len(l.tasks) > 0 {
		select {
		case got := <-l.asked: // a nil channel is never ready
			w.take(l, got)
		default:
		}
		return true
	}
	calm := time.NewTimer(spareDelay)
	defer calm.Stop()
	for {
		select {
		case got := <-l.asked:
			w.take(l, got)
			return ctx.Err() == nil
		case <-calm.C:
			if l.waiting == 0 {
				w.stage.warm() // the next frame is likely another job's
			}
		case <-ctx.Done():
			return false
		}
	}
}

// patience is how long the server may take to find a frame for a worker that has
// none. While frames are held it is to answer at once.
func (w *Worker) patience() time.Duration {
	if a := w.stage.act; a != nil && len(a.guard.held) > 0 {
		return 0
	}
	return pollLength
}

// ask asks for n frames, rather of the job whose file is open: after a delay, or
// as soon as the running frame has ended.
func (w *Worker) ask(ctx context.Context, l *line, n int, wait, delay time.Duration) {
	req := farmapi.LeaseRequest{Max: n, WaitSeconds: wait.Seconds()}
	if w.stage.act != nil {
		req.JobID = w.stage.act.job.JobID
	}
	asked, ended := make(chan answer, 1), l.ended
	l.asked = asked
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
		if got.err != nil && ctx.Err() == nil { // refused, and would be again at once
			_ = w.rest(ctx, "lease", restTry, got.err)
		}
		asked <- got
	}()
}

// take puts an answer's frames into the line.
func (w *Worker) take(l *line, got answer) {
	l.asked = nil
	switch {
	case got.err != nil:
		return // it has been logged
	case got.reply.Job == nil || len(got.reply.Leases) == 0:
		l.waiting = 0
		if got.waited {
			w.stage.clear() // nothing came for a whole poll: free what the file takes
		}
		return
	}
	if l.job != got.reply.Job.JobID {
		l.job, l.pace = got.reply.Job.JobID, 0
	}
	l.waiting = got.reply.Job.FramesWaiting
	for _, lease := range got.reply.Leases {
		l.tasks = append(l.tasks, w.held.take(*got.reply.Job, lease))
	}
}

// leave gives back what waits in the line when the worker stops, and what a lease
// call still under way brings.
func (w *Worker) leave(wire context.Context, l *line) {
	if l.asked != nil {
		w.take(l, <-l.asked)
	}
	w.dropHeld(wire)
	w.giveBack(wire, l.tasks...)
}

// render renders one frame and passes it on. took is Blender's time; what an error
// means to the lease has been seen to.
func (w *Worker) render(ctx, wire context.Context, t *task) (took time.Duration, err error) {
	if t.ctx.Err() != nil {
		return 0, context.Cause(t.ctx)
	}
	running, end := context.WithCancelCause(t.ctx)
	defer end(nil)
	stop := context.AfterFunc(ctx, func() { w.endSoon(running, end, t) })
	defer stop()
	a, err := w.onStage(running, t.job)
	if err == nil {
		begun := t.begin()
		var f blender.Frame
		if f, err = a.shoot(running, t); err == nil {
			took = time.Since(begun)
			w.pass(ctx, wire, a, t, f)
			return took, nil
		}
		w.keptDataFailed(a, err)
		w.dropHeld(wire)
		w.stage.clear()
	}
	w.giveUp(wire, t, context.Cause(running), err)
	return 0, err
}

// endSoon ends a running frame once the grace is over, or at once when it is
// clear that it will take longer.
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

// giveUp reports a frame that was not rendered, by why it was not.
func (w *Worker) giveUp(wire context.Context, t *task, cause, err error) {
	log := w.log.With("job", t.job.JobID, "frame", t.lease.Frame, "lease", t.lease.LeaseID)
	var failed *blender.Error
	switch {
	case errors.Is(cause, errLost), refused(err) && !errors.Is(err, errDamaged):
		log.Warn("frame given up: it is not this worker's any longer", "error", err)
		w.held.drop(t.lease.LeaseID, t.lease.Attempt)
	case errors.Is(cause, errStopped), errors.Is(err, errUnable):
		log.Info("frame given back", "reason", err)
		w.giveBack(wire, t)
	case errors.As(err, &failed):
		w.fail(t, failed)
	default: // damaged on its way, or a reply of Blender's that is none
		w.fail(t, &blender.Error{Code: blender.Crashed, Message: err.Error()})
	}
}

// giveBack releases leases unrendered. It is tried once: else they lapse.
func (w *Worker) giveBack(wire context.Context, tasks ...*task) {
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
	if err := w.cfg.Farm.Release(wire, farmapi.ReleaseRequest{WorkerID: w.id(), Leases: held}); err != nil {
		w.log.Warn("leases could not be given back, they lapse by themselves", "leases", len(held), "error", err)
	}
}
