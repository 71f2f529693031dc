package ratelimit

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"svc.example/internal/ground/db"
)

// Counter takes requests for one process and spares the database most of them:
// while a client has more than half its burst left, as far as the process knows,
// its requests are counted in memory and written down within writeEvery. From there
// on the database decides. The same holds for the limit of its workspace.
//
// A single process is therefore exact. Each of several processes may be half a
// burst ahead of their common count until it writes down. All requests are written
// down: a request that passed too early counts against later ones, so the long-run
// rate is exact.
//
// It is safe for concurrent use. Run must be running: without it, what was counted
// in memory reaches the database only with the client's next request that asks
// there.
type Counter struct {
	db      *db.DB
	log     *slog.Logger
	mu      sync.Mutex         // of senders, counts and what they hold
	senders map[string]*known  // by what a request shows; see secretOf
	counts  map[string]*counts // by row
	// writing is held for reading while the database decides about a request, and
	// for writing while WriteDown writes all counts. Otherwise a decision could
	// read an arrival time without the requests that WriteDown has taken over and
	// not yet stored.
	writing sync.RWMutex
	failing string // why writing down fails, as it was last logged; Run's alone
}

// known is a sender that was looked up at a time.
type known struct {
	sender
	at time.Time
}

// counts is what a process knows of a row. Counter.mu guards it. Times are in
// microseconds, by the database's clock.
type counts struct {
	arrival int64 // its arrival time, with what is not written down yet
	pending int64 // cost of the requests that are not written down yet
	asking  int   // requests of which the database is deciding
	ahead   int64 // the database's clock less this process's
	learned time.Time

	refused   int // refusals since the client last rested for knownFor
	refusedAt time.Time
}

// Bounds of what a Counter keeps.
const (
	// writeEvery is how often counts are written down. It bounds how long two
	// processes can be unaware of each other.
	writeEvery = 100 * time.Millisecond
	// knownFor is after how long a sender is looked up again, and an unchanged row is
	// read again. Until then, a revoked key or an ended session still counts as the
	// client that it was.
	knownFor = 10 * time.Second
	// knownMost bounds the senders and the rows in memory, each, at some hundred bytes
	// each. The database decides about all others.
	knownMost = 100_000
	// heldFor is how long a refusal is held back for a client that keeps asking after a
	// whole burst of refusals. Each of its connections is then refused once a second,
	// instead of at any rate.
	heldFor = time.Second
)

// NewCounter makes a counter over d. The caller starts Run, which writes down what
// it counts.
func NewCounter(d *db.DB, log *slog.Logger) *Counter {
	return &Counter{db: d, log: log, senders: map[string]*known{}, counts: map[string]*counts{}}
}

// Take counts a claim as n requests, 1 or more, of its client and of the client's
// workspace, and returns the decision: when either limit refuses, neither counts
// anything. class separates the counts of different doors, such as "api" and
// "farm". l.Client must not be unlimited. An error is the database's; nothing is
// counted then.
func (c *Counter) Take(ctx context.Context, class string, l Limits, claim Claim, n int) (Decision, error) {
	of, err := c.senderOf(ctx, claim)
	if err != nil {
		return Decision{}, err
	}
	limits := limitsOf(class, l, of)
	if d, sure := c.count(limits, n); sure {
		return d, nil
	}
	return c.ask(ctx, limits, n)
}

// WorkspaceOf returns the workspace of a claim that was taken a moment ago; "" where it has
// none or is not known. It asks no database.
func (c *Counter) WorkspaceOf(claim Claim) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k := c.senders[secretOf(claim)]; k != nil {
		return k.workspace
	}
	return ""
}

// senderOf returns the sender of a claim. A claim that shows only an address needs no
// database.
func (c *Counter) senderOf(ctx context.Context, claim Claim) (of sender, err error) {
	secret := secretOf(claim)
	if secret == "" {
		return sender{client: claim.Address}, nil
	}
	c.mu.Lock()
	k := c.senders[secret]
	c.mu.Unlock()
	if k != nil && time.Since(k.at) <= knownFor {
		return k.sender, nil
	}
	err = c.db.ReadStatement(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		of, err = lookUp(ctx, tx, claim)
		return err
	})
	// Secrets that open nothing are many, and each another: none is remembered.
	if err != nil || of.client == claim.Address {
		return of, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if k != nil || len(c.senders) < knownMost {
		c.senders[secret] = &known{of, time.Now()}
	}
	return of, nil
}

// count takes n requests in memory when the sender is far from all its limits, and
// refuses them when one limit is certainly reached: an arrival time never falls, so the
// database would refuse them too, and a sender that never waits would keep it busy.
// Otherwise sure is false, and the database must decide: a row is new or was read too
// long ago, a decision about it is under way, or half its burst is used up.
func (c *Counter) count(limits []limit, n int) (_ Decision, sure bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var decisions []Decision
	far, refused, hold, now := true, false, time.Duration(0), time.Now()
	for _, l := range limits {
		k := c.counts[l.row]
		if k == nil || now.Sub(k.learned) > knownFor {
			far = false
			continue
		}
		if k.arrival > now.UnixMicro()+k.ahead+l.policy.farthest() { // the clock was set back
			k.arrival, far = 0, false
			continue
		}
		_, d := l.policy.Decide(k.arrival, now.UnixMicro()+k.ahead, n)
		d.Workspace = l.workspace
		decisions = append(decisions, d)
		far = far && k.asking == 0 && d.Remaining >= l.policy.Burst/2
		if !d.Allowed {
			refused, hold = true, max(hold, k.refuse(l.policy.Burst, now))
		}
	}
	if refused {
		d := nearest(decisions)
		d.Hold = hold
		return d, true
	}
	if !far {
		return Decision{}, false
	}
	for _, l := range limits {
		k := c.counts[l.row]
		k.arrival, _ = l.policy.Decide(k.arrival, now.UnixMicro()+k.ahead, n)
		k.pending += l.policy.cost(n)
	}
	return nearest(decisions), true
}

// refuse notes a refusal and returns how long to hold it back. The caller holds
// Counter.mu.
func (k *counts) refuse(burst int, now time.Time) time.Duration {
	if now.Sub(k.refusedAt) > knownFor {
		k.refused = 0
	}
	k.refused, k.refusedAt = k.refused+1, now
	if k.refused <= burst {
		return 0
	}
	return heldFor
}

// ask lets the database decide about n requests. What is pending of the rows is
// written down first: a decision that did not know of it would let too many pass.
func (c *Counter) ask(ctx context.Context, limits []limit, n int) (d Decision, err error) {
	asked, pending := c.begin(limits)
	var arrivals []int64
	var now int64
	defer func() { c.end(asked, arrivals, now) }()
	if pending {
		if err := c.WriteDown(ctx); err != nil {
			return Decision{}, err
		}
	}
	c.writing.RLock()
	defer c.writing.RUnlock()
	err = c.db.Write(ctx, func(tx *db.Tx) (err error) {
		now = tx.Now
		d, arrivals, err = take(ctx, tx, limits, n)
		return err
	})
	if err != nil {
		arrivals = nil
	}
	return d, err
}

// begin returns the rows that the database is asked about, and whether anything of
// them is pending. Until end, count counts nothing of them: their arrival times would
// be older than the decision.
func (c *Counter) begin(limits []limit) (asked []*counts, pending bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	asked = make([]*counts, len(limits))
	for i, l := range limits {
		k := c.counts[l.row]
		if k == nil {
			k = &counts{}
			if len(c.counts) < knownMost {
				c.counts[l.row] = k
			}
		}
		k.asking++
		asked[i], pending = k, pending || k.pending > 0
	}
	return asked, pending
}

// end learns what the database has decided; nil arrivals say that it has not.
func (c *Counter) end(asked []*counts, arrivals []int64, now int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, k := range asked {
		k.asking--
		if arrivals != nil {
			k.learn(arrivals[i], now)
		}
	}
}

// learn adopts the database's arrival time and clock. An arrival time never falls,
// so an answer that arrives late changes nothing. What was counted meanwhile is
// added.
func (k *counts) learn(arrival, now int64) {
	k.arrival = max(k.arrival, arrival+k.pending)
	k.learned = time.Now()
	k.ahead = now - k.learned.UnixMicro()
}

// Run writes down what was counted until ctx ends, and then once more, so that an
// orderly stop loses nothing. After a crash, the requests of the last writeEvery
// are not counted.
func (c *Counter) Run(ctx context.Context) {
	tick := time.NewTicker(writeEvery)
	defer tick.Stop()
	for {
		c.logOutcome(c.WriteDown(context.WithoutCancel(ctx)))
		select {
		case <-ctx.Done():
			if err := c.WriteDown(context.WithoutCancel(ctx)); err != nil {
				c.log.Error("counted requests are lost", "err", err)
			}
			return
		case <-tick.C:
		}
	}
}

// logOutcome logs once that writing down fails, and once that it works again. Ten
// lines a second would help to fill a disk that is full.
func (c *Counter) logOutcome(err error) {
	was := c.failing
	c.failing = ""
	if err != nil {
		c.failing = err.Error()
	}
	switch {
	case (c.failing == "") == (was == ""): // an outage can have several texts
	case err != nil:
		c.log.Error("cannot write down counted requests; it is tried ten times a second", "err", err)
	default:
		c.log.Info("counted requests are written down again")
	}
}

// WriteDown stores all that was counted in memory, in one transaction, and learns
// what other processes have stored. When it fails, the counts stay pending for the
// next try.
func (c *Counter) WriteDown(ctx context.Context) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	parts := c.pending()
	if len(parts) == 0 {
		return nil
	}
	var now int64
	err := c.db.Write(ctx, func(tx *db.Tx) (err error) {
		now = tx.Now
		for i := range parts {
			if parts[i].arrival, err = add(ctx, tx, parts[i].row, parts[i].cost); err != nil {
				return err
			}
		}
		return nil
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range parts {
		if err != nil {
			p.of.pending += p.cost
		} else {
			p.of.learn(p.arrival, now)
		}
	}
	return err
}

// part is what WriteDown stores of a row.
type part struct {
	row     string
	of      *counts
	cost    int64 // what was pending
	arrival int64 // the database's value after the decision
}

// pending takes over all that is not stored yet, and forgets what was not heard of
// for knownFor. It sorts by row: processes that update the same rows in one order
// cannot deadlock.
func (c *Counter) pending() (parts []part) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for row, k := range c.counts {
		switch {
		case k.pending > 0:
			parts = append(parts, part{row: row, of: k, cost: k.pending})
			k.pending = 0
		case k.asking == 0 && time.Since(k.learned) > knownFor:
			delete(c.counts, row)
		}
	}
	for secret, k := range c.senders {
		if time.Since(k.at) > knownFor {
			delete(c.senders, secret)
		}
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.row, b.row) })
	return parts
}
