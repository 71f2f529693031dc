package worker

import (
	"context"
	"errors"
	"sync"

	"svc.example/internal/ground/blender"
	"svc.example/internal/ground/farmapi"
)

// stage holds the Blender processes: the one on stage, with a job's file open, and
// a spare that is started ahead of work. It belongs to one goroutine.
type stage struct {
	start func(context.Context) (Session, error)
	ctx   context.Context // of all starts; ends with close
	end   context.CancelFunc
	act   *act         // nil when no file is open
	spare chan started // of capacity 1; nil when none was started
	left  sync.WaitGroup
}

// act is a process with a job's file open.
type act struct {
	Session
	job    farmapi.Job
	files  files
	opened blender.Opened
	guard  guard
	second Session // what the guard compares with; nil until it has
}

type started struct {
	session Session
	err     error
}

func newStage(start func(context.Context) (Session, error)) *stage {
	ctx, end := context.WithCancel(context.Background())
	return &stage{start: start, ctx: ctx, end: end}
}

// warm starts a spare unless there is one.
func (s *stage) warm() {
	if s.spare != nil {
		return
	}
	ready := make(chan started, 1)
	s.spare = ready
	go func() {
		session, err := s.start(s.ctx)
		ready <- started{session, err}
	}()
}

// take returns the spare, which it starts when there is none. Errors: of the
// start, and ctx's cause.
func (s *stage) take(ctx context.Context) (Session, error) {
	s.warm()
	select {
	case got := <-s.spare:
		s.spare = nil
		return got.session, got.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// keep makes a process that was taken the spare again.
func (s *stage) keep(session Session) {
	s.spare = make(chan started, 1)
	s.spare <- started{session: session}
}

// clear ends the process on stage, without waiting for its end.
func (s *stage) clear() {
	if s.act == nil {
		return
	}
	gone := s.act
	s.act = nil
	s.left.Go(gone.files.remove)
	s.left.Go(func() { _ = gone.Close() }) // its folder is also emptied by the next run
	if gone.second != nil {
		s.left.Go(func() { _ = gone.second.Close() })
	}
}

// close ends every process and returns when none is left.
func (s *stage) close() {
	s.end()
	if s.spare != nil {
		if got := <-s.spare; got.err == nil {
			_ = got.session.Close()
		}
		s.spare = nil
	}
	s.clear()
	s.left.Wait()
}

// onStage returns a process with the job's file open: the one that has it open
// already, or the spare. Errors: fetch's, errUnable, those of Session.Open.
func (w *Worker) onStage(ctx context.Context, job farmapi.Job) (*act, error) {
	if a := w.stage.act; a != nil && a.job.JobID == job.JobID {
		return a, nil
	}
	w.stage.clear()
	files, err := w.fetch(ctx, job)
	if err != nil {
		return nil, err
	}
	session, err := w.stage.take(ctx)
	if err != nil {
		files.remove()
		return nil, errors.Join(errUnable, err)
	}
	a := &act{Session: session, job: job, files: files}
	w.stage.act = a
	if a.opened, err = session.Open(ctx, files.input); err != nil {
		w.stage.clear()
		return nil, err
	}
	a.guard = w.newGuard(a)
	if a.guard.watched {
		w.stage.warm() // the second process will be wanted soon
	}
	w.log.Info("file opened", "job", job.JobID, "scene", a.opened.Scene, "switched", a.opened.Switched,
		"keeps_data", a.opened.KeepsData && a.guard.note == "", "watched", a.guard.watched)
	return a, nil
}
