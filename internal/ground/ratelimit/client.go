package ratelimit

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
)

// Claim is what a request shows of its sender, unverified. lookUp decides whom it
// counts for.
type Claim struct {
	Bearer  string // secret of the Authorization header; "" without one
	Session string // value of the session cookie; "" without one
	Address string // where it comes from
}

// secretOf returns the hash of the secret that decides whom a claim counts for, with
// its kind; "" when that is its address. If there is a bearer secret, a session is
// ignored.
func secretOf(c Claim) string {
	switch {
	case c.Bearer != "":
		return "bearer " + hash(c.Bearer)
	case c.Session != "":
		return "session " + hash(c.Session)
	}
	return ""
}

// hash is the form in which keys and sessions are stored. Comparing hashes also
// keeps secrets out of the counter's memory and of the rows.
func hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// sender is whom a request counts for.
type sender struct {
	client    string // a key, a session or an address
	workspace string // "" for an address and for a worker's key
}

// lookUp returns the sender of a claim: its key, otherwise its session, otherwise
// its address (decisions 13). A bearer secret that is no active key counts for the
// address, so that guessing secrets has a limit too.
func lookUp(ctx context.Context, tx *db.Tx, c Claim) (sender, error) {
	if c.Bearer != "" {
		key, err := tx.RateKey(ctx, hash(c.Bearer))
		if err == nil {
			return sender{key.KeyID, key.WorkspaceID}, nil
		}
		if !db.IsNotFound(err) {
			return sender{}, fmt.Errorf("look up key: %w", err)
		}
	} else if c.Session != "" {
		session, err := tx.SessionGet(ctx, hash(c.Session))
		if err == nil && session.ExpiresAt > tx.Now {
			return sender{contract.SessionCookie + " " + hash(c.Session), session.WorkspaceID}, nil
		}
		if err != nil && !db.IsNotFound(err) {
			return sender{}, fmt.Errorf("look up session: %w", err)
		}
	}
	return sender{client: c.Address}, nil
}

// limit is one limit that a request counts against, and the row that counts it.
type limit struct {
	row       string
	policy    Policy
	workspace bool
}

// limitsOf returns the limits of a sender, ordered by row: transactions that lock
// rows in one order cannot deadlock.
func limitsOf(class string, l Limits, of sender) []limit {
	out := []limit{{row: class + " " + of.client, policy: l.Client}}
	if of.workspace != "" && !l.Workspace.Unlimited() {
		out = append(out, limit{row: class + " " + of.workspace, policy: l.Workspace, workspace: true})
		slices.SortFunc(out, func(a, b limit) int { return cmp.Compare(a.row, b.row) })
	}
	return out
}

// take counts n requests against each limit in the database, or against none when
// one of them refuses. It also returns the arrival times that are stored then, in
// microseconds.
func take(ctx context.Context, tx *db.Tx, limits []limit, n int) (d Decision, arrivals []int64, err error) {
	arrivals = make([]int64, len(limits))
	taken, all := make([]bool, len(limits)), true
	for i, l := range limits {
		if arrivals[i], taken[i], err = l.take(ctx, tx, n); err != nil {
			return Decision{}, nil, err
		}
		all = all && taken[i]
	}
	decisions := make([]Decision, len(limits))
	for i, l := range limits {
		allowed := taken[i]
		if allowed && !all {
			if arrivals[i], err = add(ctx, tx, l.row, -l.policy.cost(n)); err != nil {
				return Decision{}, nil, err
			}
		}
		decisions[i] = l.decision(allowed, arrivals[i], tx.Now, n)
	}
	return nearest(decisions), arrivals, nil
}

// take counts n requests against one limit.
//
// The upsert both decides and counts, so that two processes never let the same
// place in the burst pass twice. It returns no row for a refused request; the
// second statement then reads how long the client has to wait.
func (l limit) take(ctx context.Context, tx *db.Tx, n int) (arrival int64, taken bool, err error) {
	arrival, taken, err = l.try(ctx, tx, n)
	if farthest := tx.Now + l.policy.farthest(); err == nil && !taken && arrival > farthest {
		if err := tx.RateReset(ctx, query.RateResetParams{Client: l.row, Farthest: farthest}); err != nil {
			return 0, false, fmt.Errorf("forget the requests of %s: %w", l.row, err)
		}
		return l.try(ctx, tx, n)
	}
	return arrival, taken, err
}

// try is take, for a clock that only goes forward.
func (l limit) try(ctx context.Context, tx *db.Tx, n int) (arrival int64, taken bool, err error) {
	if n <= l.policy.Burst {
		arrival, err = tx.RateTake(ctx, query.RateTakeParams{Client: l.row, Now: tx.Now, Cost: l.policy.cost(n), Span: l.policy.span()})
		if err == nil {
			return arrival, true, nil
		}
		if !db.IsNotFound(err) {
			return 0, false, fmt.Errorf("take a request of %s: %w", l.row, err)
		}
	}
	arrival, err = tx.RateArrival(ctx, l.row)
	if err != nil && !db.IsNotFound(err) {
		return 0, false, fmt.Errorf("read the rate of %s: %w", l.row, err)
	}
	return arrival, false, nil
}

// decision is Policy.decision, for this limit.
func (l limit) decision(allowed bool, arrival, now int64, n int) Decision {
	d := l.policy.decision(allowed, arrival, now, n)
	d.Workspace = l.workspace
	return d
}

// add stores a cost, in microseconds, whatever the burst. It is the cost of
// requests that have passed already, or below zero for a request that is taken
// back. It returns the new arrival time, in microseconds.
func add(ctx context.Context, tx *db.Tx, row string, cost int64) (arrival int64, err error) {
	arrival, err = tx.RateAdd(ctx, query.RateAddParams{Client: row, Now: tx.Now, Cost: cost})
	if err != nil {
		return 0, fmt.Errorf("write down the requests of %s: %w", row, err)
	}
	return arrival, nil
}

// Forget removes clients that have earned their whole burst back and returns how
// many. Such a row means the same as no row. It may run at any time, concurrently
// with any counter: a client that comes back starts with a whole burst, which it
// has anyway.
func Forget(ctx context.Context, d *db.DB) (n int64, err error) {
	err = d.Write(ctx, func(tx *db.Tx) (err error) {
		n, err = tx.RateForget(ctx, tx.Now)
		return err
	})
	return n, err
}
