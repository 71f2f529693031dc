package worker

import (
	"context"
	"sync"
	"time"

	"svc.example/internal/render/blender"
	"svc.example/internal/work/farmapi"
)

// processPool holds the Blender processes: one with a job's file open, and a spare
// that starts ahead of need, because a start takes seconds. Only the rendering
// goroutine uses it.
type processPool struct {
	start func(context.Context) (Session, error)
	ctx   context.Context // of all starts; close ends it
	end   context.CancelFunc
	open  *openJob     // nil when no file is open
	spare chan started // of capacity 1; nil when none was started
	left  sync.WaitGroup
}

// openJob is a process with a job's file open. It lives until a frame of another scene comes, a
// render fails, a comparison finds a difference, no frame comes for Config.KeepScene, or the
// worker stops. A further job of the same scene gets an openJob of its own, with the same
// process.
type openJob struct {
	Session
	job    farmapi.Job // as at the reply whose frame opened it
	files  files
	opened blender.Opened // what Blender found in the file
	guard  guard          // whether data may be kept between its frames
	last   *int           // the last frame that it rendered; nil before the first
	used   time.Time      // when that was done
	bands  []float64      // of a preview: see farmapi.FrameResult
}

// reaches reports whether the process can render a frame: if frames depend on earlier
// ones, it only moves forward.
func (a *openJob) reaches(frame int) bool {
	return !a.opened.Plays || a.last == nil || frame > *a.last
}

// started is the outcome of one start: a session or an error, never both.
type started struct {
	session Session
	err     error
}

// newProcessPool returns an empty pool. Starts get a context of their own: a spare that
// starts while a frame ends must outlive that frame's context.
func newProcessPool(start func(context.Context) (Session, error)) *processPool {
	ctx, end := context.WithCancel(context.Background())
	return &processPool{start: start, ctx: ctx, end: end}
}

// warm starts a spare unless there is one.
func (p *processPool) warm() {
	if p.spare != nil {
		return
	}
	// The buffer lets the start end although its result is not taken.
	ready := make(chan started, 1)
	p.spare = ready
	go func() {
		session, err := p.start(p.ctx)
		ready <- started{session, err}
	}()
}

// take returns the spare, and starts one when there is none. Errors: the start's, and
// ctx's cause. When ctx ends first, the start continues and the spare serves the next
// caller.
func (p *processPool) take(ctx context.Context) (Session, error) {
	p.warm()
	select {
	case got := <-p.spare:
		p.spare = nil
		return got.session, got.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// keep makes a taken process the spare again. The pool must have no spare: take has
// emptied it.
func (p *processPool) keep(session Session) {
	p.spare = make(chan started, 1)
	p.spare <- started{session: session}
}

// clear ends the process with the open file and does not wait: the next frame need not
// wait for a memory of gigabytes to be freed. The files go with the process: they are
// links of this job's own. close waits for all of it.
func (p *processPool) clear() {
	if p.open == nil {
		return
	}
	gone := p.open
	p.open = nil
	p.retire(gone)
}

// retire ends a process and does not wait, as clear does.
func (p *processPool) retire(gone *openJob) {
	p.left.Go(gone.files.remove)
	p.left.Go(func() { _ = gone.Close() }) // the next run empties its folder too
}

// close ends every process and returns when none is left.
func (p *processPool) close() {
	p.end()
	if p.spare != nil {
		if got := <-p.spare; got.err == nil {
			_ = got.session.Close()
		}
		p.spare = nil
	}
	p.clear()
	p.left.Wait()
}

// has reports whether the open file is that of a job, with the same settings and of the same
// owner: a process never sees
// the files of two workspaces, not even equal ones, since that would reveal one to the other.
// It is false if frames depend on earlier ones: a job's frames are then played from its own
// beginning.
func (a *openJob) has(job farmapi.Job, scene string) bool {
	return a != nil && scene != "" && a.files.scene == scene && a.job.JobID != job.JobID && a.job.Settings == job.Settings && !a.opened.Plays && !job.Plays
}

// openJob returns a process with a job's file open that can render a frame of it: the
// current one, or the spare. Errors: fetch's, errUnable, those of Session.Open. One
// process never sees the files of two scenes: a scene may leave something in the memory
// of the process or in its folder.
func (l *slot) openJob(ctx context.Context, t *task) (*openJob, error) {
	job, frame := t.job, t.lease.Frame
	a := l.pool.open
	if a != nil && a.job.JobID == job.JobID && a.reaches(frame) {
		return a, nil
	}
	begun := time.Now()
	files, err := l.filesOf(ctx, t)
	t.fetchTime += time.Since(begun)
	if err != nil {
		return nil, err
	}
	if a := l.pool.open; a != nil {
		files.remove() // it has its own
		return l.continueScene(a, job), nil
	}
	return l.openScene(ctx, t, files)
}

// continueScene has the open process render another job of its scene. What the process keeps
// is the other job's, so the first frame is watched like any later one.
func (l *slot) continueScene(a *openJob, job farmapi.Job) *openJob {
	next := *a // pictures of the previous job are finished meanwhile
	next.job = job
	next.guard = l.newGuard(&next)
	next.guard.began = true
	l.pool.open = &next
	if next.guard.watched {
		l.pool.warm()
	}
	l.log.Info("the file is open already, of a job before", "job_id", job.JobID, "job_before", a.job.JobID, "watched", next.guard.watched)
	return &next
}

// framesOf are the frames of a job as Blender is told; nil where the service does not tell.
func framesOf(job farmapi.Job) *blender.Frames {
	if f := job.Frames; f.Step > 0 {
		return &blender.Frames{First: f.First, Last: f.Last, Step: f.Step}
	}
	return nil
}

// openScene has a spare process open a job's files. It removes them after an error.
func (l *slot) openScene(ctx context.Context, t *task, files files) (*openJob, error) {
	job := t.job
	files.input.Plays, files.input.Scene, files.input.Settings, files.input.Frames = job.Plays, job.Scene, job.Settings, framesOf(job)
	files.input.Outputs = l.outputLimits()
	session, err := l.sessionFor(ctx, files.input)
	if err != nil {
		files.remove()
		return nil, err
	}
	a := &openJob{Session: session, job: job, files: files}
	l.pool.open = a
	// A process whose open failed is in an unknown state, so clear ends it too.
	begun := time.Now()
	if a.opened, err = session.Open(ctx, files.input); err != nil {
		l.pool.clear()
		return nil, err
	}
	if err = l.divide(ctx, a); err != nil {
		l.pool.clear()
		return nil, err
	}
	t.openTime += time.Since(begun)
	a.guard = l.newGuard(a)
	if a.guard.watched && job.Settings.OCIO == "" {
		l.pool.warm() // the comparison needs a second process soon
	}
	l.log.Info("file opened", "job_id", job.JobID, "scene", a.opened.Scene, "switched", a.opened.Switched,
		"keeps_data", a.opened.KeepsData && a.guard.note == "", "not_kept", a.opened.NotKept, "watched", a.guard.watched, "strips", a.opened.Strips)
	return a, nil
}
