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
	places int   // without any the entry goes after keepFigures
	usedAt time.Time
	// content is at most this on SQLite, which one process serves: as it was summed, and what
	// was stored since. nil before it was summed. What was removed since is in it, and if this
	// process removed it, stale is true.
	content *project.Waiting
	stale   bool
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
	alone       *arriving // while no other file of the workspace is stored
}

// figureAge is how old the figures of a workspace may be for parts, while less than half of
// what it may have is used. To sum what is stored takes longer than to store a small part.
// Meanwhile other processes can add what arrives within that time.
const figureAge = time.Second

// keepFigures is how long the figures of a workspace are kept without an arriving file.
const keepFigures = time.Minute

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
		if a.places == 0 && time.Since(a.usedAt) >= keepFigures {
			delete(in.arrivals.of, other)
		}
	}
	a := in.arrivals.enter(workspaceID)
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

// enter returns what a workspace sends, with one more place. The caller holds mu.
func (all *arrivals) enter(workspaceID string) *arriving {
	a := all.of[workspaceID]
	if a == nil {
		if all.of == nil {
			all.of = map[string]*arriving{}
		}
		a = &arriving{}
		all.of[workspaceID] = a
	}
	a.places++
	a.usedAt = time.Now()
	return a
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

// growExactly is grow with what is stored now.
func (p *place) growExactly(ctx context.Context, n int64) error {
	p.of.settling.Lock()
	defer p.of.settling.Unlock()
	for again := false; ; again = true {
		if err := p.in.sum(ctx, p.workspaceID, p.of, again); err != nil {
			return err
		}
		var u usage
		err := p.in.DB.Read(ctx, func(tx *db.Tx) (err error) {
			u, err = p.in.usage(ctx, tx, p.workspaceID, p.of.content)
			return err
		})
		if err != nil {
			return err
		}
		p.in.arrivals.mu.Lock()
		p.of.stored, p.of.loose, p.of.paid, p.of.readAt = u.bytes, u.loose, u.paid, time.Now()
		used := u.bytes + p.of.held - p.held
		grown, full := p.grow(n), u.bytes+p.of.held+n > p.in.limit()
		p.in.arrivals.mu.Unlock()
		switch {
		case grown:
			return nil
		case !full:
			return p.in.noRoomUnpaid(used)
		case again || p.of.content == nil:
			return p.in.full(used)
		}
	}
}

// sumsBefore reports whether content is summed before a transaction that stores something. On
// SQLite every other write waits for that one, and a sum takes the longer the more a workspace
// has stored. On PostgreSQL only the workspace itself waits, and other processes store too.
func (in *Intake) sumsBefore() bool { return in.DB.Engine() == "sqlite" }

// sum has the content of a workspace summed where sumsBefore; again sums it even if it is known. The caller
// holds settling.
func (in *Intake) sum(ctx context.Context, workspaceID string, a *arriving, again bool) (err error) {
	in.arrivals.mu.Lock()
	again = again || a.content == nil || a.stale
	a.stale = false // what is removed from now on may be in the sum
	in.arrivals.mu.Unlock()
	if !in.sumsBefore() || !again {
		return nil
	}
	ratelimit.Work(ctx, func() {
		err = in.DB.Read(ctx, func(tx *db.Tx) error {
			w, err := project.Unstarted(ctx, tx, workspaceID)
			in.arrivals.mu.Lock()
			defer in.arrivals.mu.Unlock()
			if err == nil {
				a.content = &w
			} else {
				a.stale = true
			}
			return err
		})
	})
	return err
}

// freed has a workspace summed again, because something of it was removed.
func (in *Intake) freed(workspaceID string) {
	in.arrivals.mu.Lock()
	defer in.arrivals.mu.Unlock()
	if a := in.arrivals.of[workspaceID]; a != nil {
		a.stale = true
	}
}

// settle runs do, which stores the file and returns how many bytes that added to what
// the workspace has stored, and leaves the place. On SQLite files of a workspace are stored one
// after the other, unless there is room for many: do then knows what is stored without a sum.
func (p *place) settle(ctx context.Context, do func() (added int64, err error)) error {
	a := p.of
	p.in.arrivals.mu.Lock()
	if a == nil {
		a = p.in.arrivals.enter(p.workspaceID)
		defer func() {
			p.in.arrivals.mu.Lock()
			defer p.in.arrivals.mu.Unlock()
			a.places--
		}()
	}
	together := !p.in.sumsBefore() || a.content != nil && !a.stale && p.of != nil && p.in.roomy(a)
	p.in.arrivals.mu.Unlock()
	if together {
		a.settling.RLock()
		defer a.settling.RUnlock()
	} else {
		a.settling.Lock()
		defer a.settling.Unlock()
		if err := p.in.sum(ctx, p.workspaceID, a, false); err != nil {
			return err
		}
		p.alone = a
		defer func() { p.alone = nil }()
	}
	added, err := do()
	p.leave(added)
	return err
}

// ready has the content of a workspace summed for a transaction that stores only rows.
func (in *Intake) ready(ctx context.Context, workspaceID string) error {
	p := place{in: in, workspaceID: workspaceID}
	return p.settle(ctx, func() (int64, error) {
		if p.alone == nil {
			return 0, nil
		}
		var u usage
		err := in.DB.Read(ctx, func(tx *db.Tx) (err error) {
			u, err = in.usage(ctx, tx, workspaceID, p.alone.content)
			return err
		})
		if err == nil && u.bytes > in.limit() {
			err = in.sum(ctx, workspaceID, p.alone, true)
		}
		return 0, err
	})
}

// sumAgain has the content of the workspace summed again while it is settled, and reports
// whether it was.
func (p *place) sumAgain(ctx context.Context) bool {
	return p.alone != nil && p.in.sum(ctx, p.workspaceID, p.alone, true) == nil
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
	if a.content != nil && added > 0 {
		a.content = &project.Waiting{Bytes: a.content.Bytes + added, Loose: a.content.Loose + 1}
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

// usage reads it, and renews the sum over unpaid workspaces if that is old. content is what is
// known of content already; nil sums it.
func (in *Intake) usage(ctx context.Context, tx *db.Tx, workspaceID string, content *project.Waiting) (usage, error) {
	if content == nil {
		waiting, err := project.Unstarted(ctx, tx, workspaceID)
		if err != nil {
			return usage{}, err
		}
		content = &waiting
	}
	rows, err := tx.UnstartedRows(ctx, workspaceID)
	if err != nil {
		return usage{}, fmt.Errorf("sum the unstarted rows of %s: %w", workspaceID, err)
	}
	u := usage{bytes: content.Bytes + rows.Bytes, loose: content.Loose, paid: rows.Paid == 1}
	if !u.paid && in.Unpaid > 0 {
		err = in.unpaid.refresh(ctx, tx)
	}
	return u, err
}

// known is the content that a workspace has at most, with what a transaction adds; nil where
// that transaction has to sum it. What stores content knows it (settle). A transaction that only
// stores rows may not: then these alone have to fit.
func (in *Intake) known(workspaceID string, adds project.Waiting) *project.Waiting {
	if !in.sumsBefore() {
		return nil
	}
	in.arrivals.mu.Lock()
	defer in.arrivals.mu.Unlock()
	a := in.arrivals.of[workspaceID]
	if a == nil || a.content == nil {
		return &adds
	}
	return &project.Waiting{Bytes: a.content.Bytes + adds.Bytes, Loose: a.content.Loose + adds.Loose}
}

// checkStored is the exact check, in the transaction that stores something: it sees what
// other processes have stored. The caller has locked the workspace's row. adds is the content
// that the transaction adds, and rows are further bytes. Errors: storage_limit_reached.
func (in *Intake) checkStored(ctx context.Context, tx *db.Tx, workspaceID string, adds project.Waiting, rows int64) error {
	added := adds.Bytes + rows
	ratelimit.Store(ctx, added)
	u, err := in.usage(ctx, tx, workspaceID, in.known(workspaceID, adds))
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
