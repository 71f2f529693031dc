package worker

import (
	"context"
	"sync"

	"svc.example/internal/work/farmapi"
)

// aheadFetch holds the files of the next job, which are fetched while the last frames of
// this one render. There is at most one: its files take space in addition to those of the
// open job. The zero value is empty. The rendering goroutine takes from it, and another one
// begins.
type aheadFetch struct {
	mu      sync.Mutex
	current *fetching // nil without one
}

// fetching is one fetch that runs, or its result.
type fetching struct {
	task  *task // its lease permits the fetch, and ends it
	end   context.CancelFunc
	done  chan struct{} // closed once files and err are set
	files files
	err   error
}

// fetchAhead begins to fetch the files of the first queued frame of another job than the
// running one, unless that has begun. A fetch that serves no queued frame ends.
func (l *slot) fetchAhead(q *frameQueue) {
	next := q.otherJob()
	l.ahead.mu.Lock()
	defer l.ahead.mu.Unlock()
	if f := l.ahead.current; f != nil {
		if next != nil && f.task.job.JobID == next.job.JobID && f.task.ctx.Err() == nil {
			return
		}
		l.ahead.current = nil
		l.discard(f)
	}
	if next == nil {
		return
	}
	ctx, end := context.WithCancel(next.ctx)
	f := &fetching{task: next, end: end, done: make(chan struct{})}
	l.ahead.current = f
	go func() {
		defer close(f.done)
		f.files, f.err = l.fetch(ctx, next.job)
	}()
}

// otherJob returns the first queued frame of another job than that of the running frame,
// nil without one. Its lease is alive.
func (q *frameQueue) otherJob() *task {
	for _, t := range q.tasks {
		if t.ctx.Err() == nil && !t.job.Aside() && (q.running == nil || t.job.JobID != q.running.job.JobID) {
			return t
		}
	}
	return nil
}

// filesOf returns the files of a job: those that were fetched ahead, or otherwise it fetches
// them. For a job whose scene is open it fetches none. Otherwise the process that is open ends
// first, so that two scenes need not fit into the memory at once. Errors: fetch's. The caller
// removes the result.
func (l *slot) filesOf(ctx context.Context, t *task) (files, error) {
	l.ahead.mu.Lock()
	f := l.ahead.current
	if f == nil || f.task.job.JobID != t.job.JobID {
		l.ahead.mu.Unlock()
		return l.filesNow(ctx, t.job)
	}
	l.ahead.current = nil
	l.ahead.mu.Unlock()
	select {
	case <-f.done:
	case <-ctx.Done():
		l.discard(f)
		return files{}, context.Cause(ctx)
	}
	f.end()
	if f.err != nil && f.task != t && f.task.ctx.Err() != nil {
		return l.filesNow(ctx, t.job) // another frame's lease has ended the fetch, and this one's has not
	}
	if f.err == nil && !l.pool.open.has(t.job, f.files.scene) {
		l.pool.clear()
	}
	return f.files, f.err
}

// filesNow is filesOf of a job of which nothing was fetched ahead.
func (l *slot) filesNow(ctx context.Context, job farmapi.Job) (files, error) {
	project, err := l.projectOf(ctx, job)
	if err != nil {
		return files{}, err
	}
	if l.pool.open.has(job, project.Scene) {
		return files{scene: project.Scene}, nil
	}
	l.pool.clear()
	return l.fetchProject(ctx, job, project)
}

// discard ends a fetch whose files are not needed, and does not wait. Run waits for it.
func (w *Worker) discard(f *fetching) {
	f.end()
	w.finishing.Go(func() {
		<-f.done
		f.files.remove()
	})
}
