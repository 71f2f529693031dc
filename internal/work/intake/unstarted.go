package intake

import (
	"context"
	"fmt"
	"sync"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/work/project"
)

// arrivals counts, for this process, the bytes of files that arrive and are not stored
// yet. The zero value is ready.
type arrivals struct {
	mu     sync.Mutex // of the map and of each arriving's counts
	of     map[string]*arriving
	unpaid int64 // held by workspaces that never paid
}

// arriving is what one workspace sends at the moment. What is on disk for it and
// unpaid is at most stored + held.
type arriving struct {
	stored int64 // unstarted bytes of content and rows, as last read from the database
	loose  int64 // parts without a project, likewise
	paid   bool  // likewise
	readAt time.Time
	held   int64 // bytes of all its places
	places int   // without any the entry goes after figureAge
	// settling is held for reading while a file moves from held to stored, and for
	// writing while stored is read again. Otherwise a file could be counted in both
	// or in neither.
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
	unpaid      int64     // of that, as arrivals.unpaid counts it
	got         int64
}

// figureAge is how old the figures of a workspace may be for parts, while less than half of
// what it may have is used. To sum what is stored takes longer than to store a small part.
// Meanwhile other processes can add what arrives within that time.
const figureAge = time.Second

// roomy reports whether a part fits without asking the database. The caller holds
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

// enter gives a file its place. Announced bytes are held at once: if many files do not
// fit together, some arrive whole and the others are refused before their first byte.
// Leave the place on every path. Errors: storage_limit_reached.
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
	all := &p.in.arrivals
	if p.of.stored+p.of.held+n > p.in.limit() || !p.in.roomUnpaid(p.of.paid, all.unpaid+n) {
		return false
	}
	if !p.of.paid {
		all.unpaid += n
		p.unpaid += n
	}
	p.of.held += n
	p.held += n
	return true
}

// growExactly is grow with what the database says is stored now.
func (p *place) growExactly(ctx context.Context, n int64) error {
	p.of.settling.Lock()
	defer p.of.settling.Unlock()
	var u usage
	err := p.in.DB.Read(ctx, func(tx *db.Tx) (err error) {
		u, err = p.in.usage(ctx, tx, p.workspaceID)
		return err
	})
	if err != nil {
		return err
	}
	p.in.arrivals.mu.Lock()
	defer p.in.arrivals.mu.Unlock()
	p.of.stored, p.of.loose, p.of.paid, p.of.readAt = u.bytes, u.loose, u.paid, time.Now()
	used := u.bytes + p.of.held - p.held
	switch {
	case p.grow(n):
		return nil
	case u.bytes+p.of.held+n > p.in.limit():
		return p.in.full(used)
	}
	return p.in.noRoomUnpaid(used)
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
		a.loose++ // for an upload it is one too many, until it is read again
	}
	a.held -= p.held
	p.in.arrivals.unpaid -= p.unpaid
	a.places--
}

// limit is Unstarted with its default.
func (in *Intake) limit() int64 {
	if in.Unstarted == 0 {
		return contract.UnstartedStorage
	}
	return in.Unstarted
}

// usage is what a workspace has stored that no job pays for.
type usage struct {
	bytes int64 // of content and rows
	loose int64 // parts without a project
	paid  bool  // the workspace has had a credit or a payment
}

// usage reads it, and renews the sum over unpaid workspaces if that is old.
func (in *Intake) usage(ctx context.Context, tx *db.Tx, workspaceID string) (usage, error) {
	waiting, err := project.Unstarted(ctx, tx, workspaceID)
	if err != nil {
		return usage{}, err
	}
	rows, err := tx.UnstartedRows(ctx, workspaceID)
	if err != nil {
		return usage{}, fmt.Errorf("sum the unstarted rows of %s: %w", workspaceID, err)
	}
	u := usage{bytes: waiting.Bytes + rows.Bytes, loose: waiting.Loose, paid: rows.Paid == 1}
	if !u.paid && in.Unpaid > 0 {
		err = in.unpaid.refresh(ctx, tx)
	}
	return u, err
}

// checkStored is the exact check, in the transaction that stores something: it sees what
// other processes have stored. The caller has locked the workspace's row. added is what the
// transaction adds. Errors: storage_limit_reached.
func (in *Intake) checkStored(ctx context.Context, tx *db.Tx, workspaceID string, added int64) error {
	ratelimit.Store(ctx, added)
	u, err := in.usage(ctx, tx, workspaceID)
	switch {
	case err != nil:
		return err
	case u.loose > contract.MaxLooseParts:
		return fault.New(fault.StorageLimitReached, "This workspace has %d parts that no project uses, which is the maximum.", u.loose-1).
			With(storageDetail{u.bytes - added, in.limit()}).WithAction("Create projects from these parts, or wait. An unused part is removed after one day.")
	case u.bytes > in.limit():
		return in.full(u.bytes - added)
	case !in.roomUnpaid(u.paid, added):
		return in.noRoomUnpaid(u.bytes - added)
	case !u.paid:
		in.unpaid.bytes.Add(added)
	}
	return nil
}

// storageDetail is the detail of storage_limit_reached. UsedBytes does not count what is
// refused.
type storageDetail struct {
	UsedBytes  int64 `json:"used_bytes"`
	LimitBytes int64 `json:"limit_bytes"`
}

func (in *Intake) full(used int64) error {
	return fault.New(fault.StorageLimitReached, "Uploads, quotes and stored answers without a job use %d bytes in this workspace. This upload would exceed the limit of %d.", min(used, in.limit()), in.limit()).
		With(storageDetail{min(used, in.limit()), in.limit()})
}
