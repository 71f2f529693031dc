// Package sharing makes costly things, such as pictures, one at a time for each owner, and
// gives the result to every caller that wants the same.
//
// What always holds: one thing at a time is made for each owner, and a Maker never makes
// more at once than its bound. A result is kept only as long as a caller wants it. Callers
// decide what is made. Start reading at Maker.Share.
package sharing

import (
	"cmp"
	"context"
	"runtime"
	"sync"
)

// Maker makes the things of each owner one after the other. K names a thing within its
// owner. Its zero value is ready; Most is set before the first call. It is safe for concurrent use, and must not be copied.
type Maker[K comparable] struct {
	Most int // things that are made at once; 0 is as many as there are processors

	mu      sync.Mutex // of owners and their counts
	owners  map[string]*owner[K]
	process chan struct{} // a place for each that may be made at once
}

// owner is one that callers want a thing of.
type owner[K comparable] struct {
	turn   chan struct{} // holds a token while a thing of the owner is made
	wanted int
	made   map[K]*thing
}

// thing is wanted, perhaps by several callers. The owner's turn guards all but wanted.
type thing struct {
	wanted  int
	done    bool
	content []byte
	err     error
}

// Share returns what do makes, or what it has made meanwhile for another caller that
// wanted the same. A failure of do after its own ctx ended is not shared. Its error is
// that of do or of ctx.
func (m *Maker[K]) Share(ctx context.Context, ownerID string, key K, do func() ([]byte, error)) ([]byte, error) {
	own, shared := m.enter(ownerID, key)
	defer m.leave(ownerID, key)
	if err := take(ctx, own.turn); err != nil {
		return nil, err
	}
	defer func() { <-own.turn }()
	if shared.done {
		return shared.content, shared.err
	}
	if err := take(ctx, m.process); err != nil {
		return nil, err
	}
	defer func() { <-m.process }()
	content, err := do()
	if ctx.Err() == nil {
		shared.done, shared.content, shared.err = true, content, err
	}
	return content, err
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

// enter says that a thing is wanted.
func (m *Maker[K]) enter(ownerID string, key K) (*owner[K], *thing) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.owners == nil {
		m.owners, m.process = map[string]*owner[K]{}, make(chan struct{}, cmp.Or(m.Most, runtime.GOMAXPROCS(0)))
	}
	own := m.owners[ownerID]
	if own == nil {
		own = &owner[K]{turn: make(chan struct{}, 1), made: map[K]*thing{}}
		m.owners[ownerID] = own
	}
	shared := own.made[key]
	if shared == nil {
		shared = &thing{}
		own.made[key] = shared
	}
	own.wanted++
	shared.wanted++
	return own, shared
}

// leave forgets a thing that no caller wants any more, and its owner.
func (m *Maker[K]) leave(ownerID string, key K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	own := m.owners[ownerID]
	if own.made[key].wanted--; own.made[key].wanted == 0 {
		delete(own.made, key)
	}
	if own.wanted--; own.wanted == 0 {
		delete(m.owners, ownerID)
	}
}
