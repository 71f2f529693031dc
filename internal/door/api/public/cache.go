package public

import (
	"sync"
	"time"
)

// cacheLife is how long callers share a value.
const cacheLife = time.Second

// cache keeps a value for cacheLife. After that one caller reads it again, and
// the others wait. An error is not cached.
type cache[T any] struct {
	mu   sync.Mutex
	read time.Time
	last T
}

func (r *cache[T]) get(read func() (T, error)) (T, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	began := time.Now()
	if !r.read.IsZero() && began.Sub(r.read) < cacheLife {
		return r.last, nil
	}
	last, err := read()
	if err == nil {
		r.last, r.read = last, began
	}
	return last, err
}
