// Package memory bounds the memory of several inspections together.
//
// What always holds: the shares of a budget never hold more than it has; no inspection
// waits for memory. Package blendfile decides what is held, and what happens to an
// inspection that gets none. Start reading at Share.Hold.
package memory

import "sync"

// own is what each share has without asking the budget, in bytes: nearly every file keeps
// less.
const own = 1 << 20

// step is how much a share takes at a time, in bytes.
const step = 256 << 10

// Budget is the memory that all its shares have together, beyond 1 MiB each. Safe for
// concurrent use.
type Budget struct {
	mu   sync.Mutex
	left int
}

// NewBudget makes a budget of so many bytes.
func NewBudget(bytes int64) *Budget { return &Budget{left: int(bytes)} }

// take takes n bytes, all or none. A negative n gives them back.
func (b *Budget) take(n int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n > b.left {
		return false
	}
	b.left -= n
	return true
}

// Share is what one inspection holds of a budget. Without a budget it has no bound. Not
// safe for concurrent use.
type Share struct {
	Of   *Budget // nil for none
	held int     // bytes taken of it
}

// Hold makes sure that so many bytes in all are covered, and reports false when the budget
// has not as many left: it never waits, since those that hold it may be uploads that take
// hours. What was once held stays so until End: memory that is freed is not returned at
// once either.
func (s *Share) Hold(bytes int) bool {
	more := bytes - own - s.held
	if s.Of == nil || more <= 0 {
		return true
	}
	more = max(more, step)
	if !s.Of.take(more) {
		return false
	}
	s.held += more
	return true
}

// End gives everything back.
func (s *Share) End() {
	if s.Of != nil {
		s.Of.take(-s.held)
	}
	s.held = 0
}
