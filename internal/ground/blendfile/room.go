package blendfile

import "sync"

// ownRoom is what each inspection may keep without asking for room, in bytes: nearly
// every file keeps less.
const ownRoom = 1 << 20

// roomStep is how much room an inspection takes at a time, in bytes.
const roomStep = 256 << 10

// Room bounds the memory of all inspections that share it: what they keep beyond 1 MiB
// each. An inspection that finds no room left ends with [ErrBusy]; it never waits, since
// those that hold the room may be uploads that take hours. Safe for concurrent use.
type Room struct {
	mu   sync.Mutex
	left int
}

// NewRoom makes room for so many bytes.
func NewRoom(bytes int64) *Room { return &Room{left: int(bytes)} }

// take takes n bytes, all or none. A negative n gives them back.
func (r *Room) take(n int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n > r.left {
		return false
	}
	r.left -= n
	return true
}

// lease is what one inspection holds of a room.
type lease struct {
	room *Room // nil for one without a bound
	held int
}

// hold makes sure that bytes in all are covered. What was once held stays so until end:
// memory that an eviction frees is not returned at once either.
func (l *lease) hold(bytes int) error {
	more := bytes - ownRoom - l.held
	if l.room == nil || more <= 0 {
		return nil
	}
	more = max(more, roomStep)
	if !l.room.take(more) {
		return ErrBusy
	}
	l.held += more
	return nil
}

// end gives everything back.
func (l *lease) end() {
	if l.room != nil {
		l.room.take(-l.held)
	}
	l.held = 0
}
