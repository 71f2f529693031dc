package public

import (
	"sync"
	"time"
)

// recentFor is how old an answer may be that many share.
const recentFor = time.Second

// recent is what was read last, for all who ask within recentFor: whoever comes
// then reads anew, and those who come meanwhile wait for it. An error is not kept.
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
