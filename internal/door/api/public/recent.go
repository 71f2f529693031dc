package public

import (
	"sync"
	"time"
)

// recentFor is how long callers share a value.
const recentFor = time.Second

// recent caches a value for recentFor. After that one caller reads it again, and
// the others wait. An error is not cached.
type recent[T any] struct {
	mu   sync.Mutex
	read time.Time
	last T
}

func (r *recent[T]) get(read func() (T, error)) (T, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	began := time.Now()
	if !r.read.IsZero() && began.Sub(r.read) < recentFor {
		return r.last, nil
	}
	last, err := read()
	if err == nil {
		r.last, r.read = last, began
	}
	return last, err
}
