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
// its requests are counted in memory and written down within a moment. From
// there on the database decides.
//
// So a process alone is exact. Several are, each, half a burst ahead of their
// common count at most, for as long as writing down takes. All is written down:
// what passed too early is missing later, and the rate in the long run is exact.
type Counter struct {
	db    *db.DB
	log   *slog.Logger
	mu    sync.Mutex        // of known and what it holds
	known map[string]*known // by what a request shows; see label
	// writing is held while all is written down: the database decides of no
	// request meanwhile.
	writing sync.RWMutex
	failing string // why writing down fails, as it was last logged; Run's alone
}

// known is what a process knows of a client.
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
	writeEvery = 100 * time.Millisecond
	knownFor   = 10 * time.Second // then who it is is looked up anew
	knownMost  = 100_000          // clients; others are always asked of the database
)

// NewCounter makes a counter; Run writes down what it counts.
func NewCounter(d *db.DB, log *slog.Logger) *Counter {
	return &Counter{db: d, log: log, known: map[string]*known{}}
}

// Take takes one request of the client that stands behind a claim. class keeps
// the counts of different doors apart.
func (c *Counter) Take(ctx context.Context, class string, p Policy, claim Claim) (Decision, error) {
	label := class + " " + label(claim)
	if d, sure := c.count(label, p); sure {
		return d, nil
	}
	return c.ask(ctx, label, class, p, claim)
}

// label distinguishes requests by what they show, without keeping a secret.
func label(c Claim) string {
	switch {
	case c.Bearer != "":
		return "bearer " + hash(c.Bearer)
	case c.Session != "":
		return "session " + hash(c.Session)
	}
	return c.Address
}

// count takes a request in memory when the client is known and far from its
// limit.
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

// ask writes down what is pending of a client and has the database decide.
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

// begin takes over what is pending of a client. From here on until the database
// has decided nothing of the client is counted in memory.
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

// learn takes over what the database says. A client's arrival time never falls:
// what arrives late changes nothing.
func (k *known) learn(arrival, now int64) {
	k.arrival = max(k.arrival, arrival+k.pending*k.policy.Every().Microseconds())
	k.ahead = now - time.Now().UnixMicro()
}

// add writes down what is pending and returns the client's arrival time.
func add(ctx context.Context, tx *db.Tx, k known) (arrival int64, err error) {
	arrival, err = tx.RateAdd(ctx, query.RateAddParams{Client: k.client, Now: tx.Now, Earned: k.pending * k.policy.Every().Microseconds()})
	if err != nil {
		return 0, fmt.Errorf("write down the requests of %s: %w", k.client, err)
	}
	return arrival, nil
}

// Run writes down what was counted until ctx ends, and then the rest.
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

// logOutcome logs that writing down fails, and that it works again, once each: ten
// lines a second would help to fill the disk that is full.
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

// WriteDown writes what was counted in memory, and learns what other processes
// have.
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

// part is what is written down of one client.
type part struct {
	of      *known
	was     known // when it was taken over
	arrival int64 // what the database says then
}

// pending takes over all that is not written down, and forgets clients that have
// not come for a while. Its order is the same in every process, so that they do
// not wait for each other in a circle.
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
