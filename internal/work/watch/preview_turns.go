package watch

import (
	"context"
	"runtime"
	"sync"
)

// turns makes the previews of each job one after the other, and no more at once in this
// process than it has processors: each takes a processor, and up to 32 MiB. Its zero
// value is ready. It is safe for concurrent use.
type turns struct {
	mu      sync.Mutex // of jobs and its counts
	jobs    map[string]*jobTurn
	process chan struct{} // a place for each processor
}

// jobTurn is a job of which somebody wants a preview.
type jobTurn struct {
	turn   chan struct{} // holds a token while a preview of the job is made
	wanted int
	made   map[previewKey]*sharedPreview
}

// previewKey names a preview within a job.
type previewKey struct {
	sha256 string // of the frame's file
	side   int    // most pixels of the longer side
}

// sharedPreview is a preview that is wanted, perhaps by several callers. The job's turn
// guards all but wanted.
type sharedPreview struct {
	wanted int
	done   bool
	jpeg   []byte
	err    error
}

// share returns what do makes, or has made for another caller who wanted the same
// meanwhile. What do has failed to make since its own ctx ended is not shared. Besides
// those of do, its error is that of ctx.
func (t *turns) share(ctx context.Context, jobID string, key previewKey, do func() ([]byte, error)) ([]byte, error) {
	job, shared := t.enter(jobID, key)
	defer t.leave(jobID, key)
	if err := take(ctx, job.turn); err != nil {
		return nil, err
	}
	defer func() { <-job.turn }()
	if shared.done {
		return shared.jpeg, shared.err
	}
	if err := take(ctx, t.process); err != nil {
		return nil, err
	}
	defer func() { <-t.process }()
	jpeg, err := do()
	if ctx.Err() == nil {
		shared.done, shared.jpeg, shared.err = true, jpeg, err
	}
	return jpeg, err
}

// take waits for a place until ctx ends.
func take(ctx context.Context, place chan struct{}) error {
	select {
	case place <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// enter says that a preview is wanted.
func (t *turns) enter(jobID string, key previewKey) (*jobTurn, *sharedPreview) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.jobs == nil {
		t.jobs, t.process = map[string]*jobTurn{}, make(chan struct{}, runtime.GOMAXPROCS(0))
	}
	job := t.jobs[jobID]
	if job == nil {
		job = &jobTurn{turn: make(chan struct{}, 1), made: map[previewKey]*sharedPreview{}}
		t.jobs[jobID] = job
	}
	shared := job.made[key]
	if shared == nil {
		shared = &sharedPreview{}
		job.made[key] = shared
	}
	job.wanted++
	shared.wanted++
	return job, shared
}

// leave forgets a preview that nobody wants any more, and its job.
func (t *turns) leave(jobID string, key previewKey) {
	t.mu.Lock()
	defer t.mu.Unlock()
	job := t.jobs[jobID]
	if job.made[key].wanted--; job.made[key].wanted == 0 {
		delete(job.made, key)
	}
	if job.wanted--; job.wanted == 0 {
		delete(t.jobs, jobID)
	}
}
