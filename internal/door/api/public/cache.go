package public

import (
	"sync"
	"time"
)

// cacheLife is how long callers share a value: decisions 12 allows capabilities
// to be a second old.
const cacheLife = time.Second

// cache keeps a value for cacheLife. After that one caller reads it again and
// the others wait for it, so that any number of callers costs one query a
// second. An error is not kept. The zero cache is ready to use, and safe for
// concurrent use.
type cache[T any] struct {
	mu sync.Mutex
	// read is when reading the value began; zero before the first time.
	// Counting from the beginning keeps a slow read from making the value look
	// younger than it is.
	read time.Time
	last T
}

// get returns the kept value, or the one that read returns.
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
