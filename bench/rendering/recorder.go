package rendering

import (
	"context"
	"sync"
	"time"

	"svc.example/internal/render/blender"
	"svc.example/internal/work/worker"
)

// recorder is the real renderer with a clock. It notes when frames begin and end and
// how many Blenders are ready. It is safe for concurrent use.
type recorder struct {
	worker.Renderer

	mu      sync.Mutex
	waiting int           // Blenders that are started and have opened no file yet
	changed chan struct{} // closed and replaced whenever waiting changes
	frames  []span        // since the last clear, in the order of their end
	opened  time.Time     // when a Blender had a file open last
}

// span is when a frame began, by Blender, and when its worker had the picture.
type span struct{ began, ended time.Time }

func newRecorder(r worker.Renderer) *recorder {
	return &recorder{Renderer: r, changed: make(chan struct{})}
}

// waits returns how many Blenders wait for a file, and a channel that is closed when
// that number changes next.
func (w *recorder) waits() (waiting int, changed <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.waiting, w.changed
}

// wait changes the number of waiting Blenders and wakes everyone who waits for that.
func (w *recorder) wait(more int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting += more
	close(w.changed)
	w.changed = make(chan struct{})
}

// Start implements worker.Renderer.
func (w *recorder) Start(ctx context.Context, o blender.Options) (worker.Session, error) {
	s, err := w.Renderer.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	w.wait(1)
	return recordedSession{s, w}, nil
}

// Open implements worker.Session. The Blender is taken from here on.
func (s recordedSession) Open(ctx context.Context, in blender.Input) (blender.Opened, error) {
	s.watch.wait(-1)
	opened, err := s.Session.Open(ctx, in)
	s.watch.mu.Lock()
	defer s.watch.mu.Unlock()
	s.watch.opened = time.Now()
	return opened, err
}

// lastOpened is when a Blender had a file open last.
func (w *recorder) lastOpened() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.opened
}

// clear returns the frames since the last call and forgets them.
func (w *recorder) clear() []span {
	w.mu.Lock()
	defer w.mu.Unlock()
	frames := w.frames
	w.frames = nil
	return frames
}

type recordedSession struct {
	worker.Session
	watch *recorder
}

// Render implements worker.Session.
func (s recordedSession) Render(ctx context.Context, frame int, progress func(float64)) (blender.Frame, error) {
	f, err := s.Session.Render(ctx, frame, progress)
	if err != nil {
		return f, err
	}
	s.watch.mu.Lock()
	defer s.watch.mu.Unlock()
	s.watch.frames = append(s.watch.frames, span{began: f.Started, ended: time.Now()})
	return f, nil
}
