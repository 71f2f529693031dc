package ratelimit

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
)

// Counter takes requests for one process and spares the database most of them:
// while a client has more than half its burst left, as far as the process knows,
// its requests are counted in memory and written down within writeEvery. From there
// on the database decides.
//
// A process that is alone is therefore exact. Of several processes, each may be
// half a burst ahead of their common count, for as long as writing down takes. All
// requests are written down: what passed too early is missing later, and the
// long-run rate is exact.
//
// It is safe for concurrent use. Run must be running: without it, what was counted
// in memory reaches the database only with the client's next request that asks
// there.
type Counter struct {
	db    *db.DB
	log   *slog.Logger
	mu    sync.Mutex        // of known and what it holds
	known map[string]*known // by what a request shows; see label
	// writing is held for reading while the database decides about one client, and
	// for writing while WriteDown writes all of them. Otherwise a decision could
	// read an arrival time without the requests that WriteDown has taken over and
	// not yet stored.
	writing sync.RWMutex
	failing string // why writing down fails, as it was last logged; Run's alone
}

// known is what a process knows of a client. Counter.mu guards it. arrival is in
// microseconds, by the database's clock.
type known struct {
	client  string // its row
	policy  Policy
	arrival int64 // its arrival time, with what is not written down yet
	pending int64 // requests that are not written down yet
	asking  int   // requests of which the database is deciding
	ahead   int64 // the database's clock less this process's, in microseconds
	asked   time.Time
}

// Bounds of what a Counter keeps.
const (
	// writeEvery is how often counts are written down. It bounds how long two
	// processes can be unaware of each other.
	writeEvery = 100 * time.Millisecond
	// knownFor is after how long a client is looked up again: until then, a revoked
	// key or an ended session still counts as the client that it was.
	knownFor = 10 * time.Second
	// knownMost bounds the clients in memory, at some hundred bytes each. The
	// database decides about all others.
	knownMost = 100_000
)

// NewCounter makes a counter over d. The caller starts Run, which writes down what
// it counts.
func NewCounter(d *db.DB, log *slog.Logger) *Counter {
	return &Counter{db: d, log: log, known: map[string]*known{}}
}

// Take counts one request of the client that a claim belongs to and returns the
// decision. class keeps the counts of different doors apart, such as "api" and
// "farm". p must not be unlimited. An error is the database's; the request is then
// not counted.
func (c *Counter) Take(ctx context.Context, class string, p Policy, claim Claim) (Decision, error) {
	label := class + " " + label(claim)
	if d, sure := c.count(label, p); sure {
		return d, nil
	}
	return c.ask(ctx, label, class, p, claim)
}

// label identifies a claim in memory, without keeping its secret. It needs no
// database, unlike clientOf; two labels may belong to one client.
func label(c Claim) string {
	switch {
	case c.Bearer != "":
		return "bearer " + hash(c.Bearer)
	case c.Session != "":
		return "session " + hash(c.Session)
	}
	return c.Address
}

// count takes a request in memory when the client is known and far from its limit.
// Otherwise sure is false, and the database must decide: the client is new or was
// looked up too long ago, its policy has changed, a decision about it is under way,
// or it has used up half its burst.
func (c *Counter) count(label string, p Policy) (d Decision, sure bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.known[label]
	if k == nil || k.asking > 0 || k.policy != p || time.Since(k.asked) > knownFor {
		return Decision{}, false
	}
	next, d := p.Decide(k.arrival, time.Now().UnixMicro()+k.ahead)
	if !d.Allowed || d.Remaining < p.Burst/2 {
		return Decision{}, false
	}
	k.arrival = next
	k.pending++
	return d, true
}

// ask writes down what is pending of a client and lets the database decide about
// one more request, in one transaction: a decision that did not know of the pending
// requests would let too many pass.
func (c *Counter) ask(ctx context.Context, label, class string, p Policy, claim Claim) (out Decision, err error) {
	c.writing.RLock()
	defer c.writing.RUnlock()
	k, was := c.begin(label)
	var client string
	var arrival, now int64
	err = c.db.Write(ctx, func(tx *db.Tx) (err error) {
		now = tx.Now
		if was.pending > 0 {
			if _, err := add(ctx, tx, was); err != nil {
				return err
			}
		}
		if client, err = clientOf(ctx, tx, claim); err != nil {
			return err
		}
		out, arrival, err = take(ctx, tx, class+" "+client, p)
		return err
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	k.asking--
	// Secrets that open nothing are many, and each another: none is remembered.
	guess := client == claim.Address && (claim.Bearer != "" || claim.Session != "")
	if (err != nil || guess) && k.asking == 0 && was.pending == 0 {
		delete(c.known, label)
	}
	if err != nil {
		k.pending += was.pending
		return Decision{}, err
	}
	if guess {
		return out, nil
	}
	if row := class + " " + client; k.client != row || k.policy != p {
		k.client, k.policy, k.arrival = row, p, 0
	}
	k.asked = time.Now()
	k.learn(arrival, now)
	return out, nil
}

// begin takes over what is pending of a client. Until the database has decided,
// count counts nothing of that client: its arrival time would be older than the
// decision.
func (c *Counter) begin(label string) (k *known, was known) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k = c.known[label]; k == nil {
		k = &known{}
		if len(c.known) < knownMost {
			c.known[label] = k
		}
	}
	was = *k
	k.asking++
	k.pending = 0
	return k, was
}

// learn adopts the database's arrival time and clock. An arrival time never falls,
// so an answer that arrives late changes nothing. What was counted meanwhile is
// added.
func (k *known) learn(arrival, now int64) {
	k.arrival = max(k.arrival, arrival+k.pending*k.policy.Every().Microseconds())
	k.ahead = now - time.Now().UnixMicro()
}

// add stores the pending requests of a client and returns its new arrival time, in
// microseconds. They have passed already, so they are stored even beyond the burst.
func add(ctx context.Context, tx *db.Tx, k known) (arrival int64, err error) {
	arrival, err = tx.RateAdd(ctx, query.RateAddParams{Client: k.client, Now: tx.Now, Earned: k.pending * k.policy.Every().Microseconds()})
	if err != nil {
		return 0, fmt.Errorf("write down the requests of %s: %w", k.client, err)
	}
	return arrival, nil
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
				c.log.Error("counted requests are lost", "error", err)
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
	case c.failing == was:
	case err != nil:
		c.log.Error("cannot write down counted requests; it is tried ten times a second", "error", err)
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
			if parts[i].arrival, err = add(ctx, tx, parts[i].was); err != nil {
				return err
			}
		}
		return nil
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range parts {
		if err != nil {
			p.of.pending += p.was.pending
		} else {
			p.of.learn(p.arrival, now)
		}
	}
	return err
}

// part is what WriteDown stores of one client.
type part struct {
	of      *known
	was     known // when it was taken over
	arrival int64 // what the database says then
}

// pending takes over all that is not stored yet, and forgets clients that have not
// come for knownFor. It sorts by row: processes that update the same rows in one
// order cannot deadlock.
func (c *Counter) pending() (parts []part) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for label, k := range c.known {
		switch {
		case k.pending > 0:
			parts = append(parts, part{of: k, was: *k})
			k.pending = 0
		case k.asking == 0 && time.Since(k.asked) > knownFor:
			delete(c.known, label)
		}
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.was.client, b.was.client) })
	return parts
}
