package intake

import (
	"context"
	"sync"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/project"
)

// arrivals counts, for this process, the bytes of files that arrive and are not stored
// yet. The zero value is ready.
type arrivals struct {
	mu sync.Mutex // of the map and of each arriving's counts
	of map[string]*arriving
}

// arriving is what one workspace sends at the moment. What is on disk for it and paid
// for by nobody is at most stored + held.
type arriving struct {
	stored int64 // unstarted bytes, as last read from the database
	loose  int64 // parts without a project, likewise
	readAt time.Time
	held   int64 // bytes of all its places
	places int   // without any the entry goes after figureAge
	// settling is held for reading while a file moves from held to stored, and for
	// writing while stored is read anew. Otherwise a file could be counted in both or
	// in neither.
	settling sync.RWMutex
}

// place is the room of one file while it arrives. It is never given more bytes than
// the workspace has left (Intake.Unstarted), so that many files at once cannot fill
// the disk together. Not safe for concurrent use.
type place struct {
	in          *Intake
	workspaceID string
	of          *arriving // nil once the place was left, and of a file that costs nothing
	held        int64     // announced first, then what came where that is more
	got         int64
}

// figureAge is how old the figures of a workspace may be for parts, while less than half of
// what it may have is used. To sum what is stored takes longer than to store a small part.
// Meanwhile other processes can add what arrives within that time.
const figureAge = time.Second

// roomy reports whether a part fits without a look at the database. The caller holds
// arrivals.mu.
func (in *Intake) roomy(a *arriving) bool {
	return time.Since(a.readAt) < figureAge && a.stored+a.held <= in.limit()/2 && a.loose <= contract.MaxLooseParts/2
}

// roomy is Intake.roomy for a place that was not left.
func (p *place) roomy() bool {
	p.in.arrivals.mu.Lock()
	defer p.in.arrivals.mu.Unlock()
	return p.of != nil && p.in.roomy(p.of)
}

// enter gives a file its place. Announced bytes are held at once: of many files that
// do not fit together, some arrive whole and the others are refused before their first
// byte. Leave the place on every path. Errors: storage_limit_reached.
func (in *Intake) enter(ctx context.Context, workspaceID string, announced int64, isPart bool) (*place, error) {
	in.arrivals.mu.Lock()
	for other, a := range in.arrivals.of {
		if a.places == 0 && time.Since(a.readAt) >= figureAge {
			delete(in.arrivals.of, other)
		}
	}
	a := in.arrivals.of[workspaceID]
	if a == nil {
		if in.arrivals.of == nil {
			in.arrivals.of = map[string]*arriving{}
		}
		a = &arriving{}
		in.arrivals.of[workspaceID] = a
	}
	a.places++
	p := &place{in: in, workspaceID: workspaceID, of: a}
	fits := isPart && in.roomy(a) && p.grow(max(0, announced))
	in.arrivals.mu.Unlock()
	if fits {
		return p, nil
	}
	if err := p.growExactly(ctx, max(0, announced)); err != nil {
		p.leave(0)
		return nil, err
	}
	return p, nil
}

// take counts n more bytes, before they are written. Errors: storage_limit_reached.
func (p *place) take(ctx context.Context, n int) error {
	p.got += int64(n)
	if p.of == nil || p.got <= p.held {
		return nil
	}
	p.in.arrivals.mu.Lock()
	fits := p.grow(p.got - p.held)
	p.in.arrivals.mu.Unlock()
	if fits {
		return nil
	}
	return p.growExactly(ctx, p.got-p.held) // room may have come free meanwhile
}

// grow gives a place n more bytes, where they fit. The caller holds arrivals.mu.
func (p *place) grow(n int64) bool {
	if p.of.stored+p.of.held+n > p.in.limit() {
		return false
	}
	p.of.held += n
	p.held += n
	return true
}

// growExactly is grow by what the database says is stored now.
func (p *place) growExactly(ctx context.Context, n int64) error {
	p.of.settling.Lock()
	defer p.of.settling.Unlock()
	var waiting project.Waiting
	err := p.in.DB.ReadStatement(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		waiting, err = project.Unstarted(ctx, tx, p.workspaceID)
		return err
	})
	if err != nil {
		return err
	}
	p.in.arrivals.mu.Lock()
	defer p.in.arrivals.mu.Unlock()
	p.of.stored, p.of.loose, p.of.readAt = waiting.Bytes, waiting.Loose, time.Now()
	if !p.grow(n) {
		return p.in.full(waiting.Bytes + p.of.held - p.held)
	}
	return nil
}

// settle runs do, which stores the file and returns how many bytes that added to what
// the workspace has stored, and leaves the place.
func (p *place) settle(do func() (added int64, err error)) error {
	if p.of == nil {
		_, err := do()
		return err
	}
	p.of.settling.RLock()
	defer p.of.settling.RUnlock()
	added, err := do()
	p.leave(added)
	return err
}

// leave gives the room back, of which added bytes are stored now. Again it does
// nothing.
func (p *place) leave(added int64) {
	a := p.of
	if a == nil {
		return
	}
	p.of = nil
	p.in.arrivals.mu.Lock()
	defer p.in.arrivals.mu.Unlock()
	a.stored += added
	if added > 0 {
		a.loose++ // of an upload it is one too many, until it is read anew
	}
	a.held -= p.held
	a.places--
}

// limit is Unstarted with its default.
func (in *Intake) limit() int64 {
	if in.Unstarted == 0 {
		return contract.UnstartedStorage
	}
	return in.Unstarted
}

// checkStored is the exact check, in the transaction that stores a file: it sees what
// other processes have stored. The caller has locked the workspace's row. added is
// what the file adds. Errors: storage_limit_reached.
func (in *Intake) checkStored(ctx context.Context, tx *db.Tx, workspaceID string, added int64) error {
	waiting, err := project.Unstarted(ctx, tx, workspaceID)
	if err == nil && waiting.Loose > contract.MaxLooseParts {
		err = fault.New(fault.StorageLimitReached, "%d parts of this workspace are in no project, the most at once.", waiting.Loose-1).
			With(storageDetail{waiting.Bytes - added, in.limit()}).WithAction("Make the projects of these parts, or wait: a part without a project goes a day after it was sent.")
	}
	if err == nil && waiting.Bytes > in.limit() {
		err = in.full(waiting.Bytes - added)
	}
	return err
}

// storageDetail is the detail of storage_limit_reached. UsedBytes does not count the
// refused file.
type storageDetail struct {
	UsedBytes  int64 `json:"used_bytes"`
	LimitBytes int64 `json:"limit_bytes"`
}

func (in *Intake) full(used int64) error {
	return fault.New(fault.StorageLimitReached, "Uploads that no job uses have %d bytes in this workspace; with this one they would have more than %d.", used, in.limit()).
		With(storageDetail{used, in.limit()})
}
