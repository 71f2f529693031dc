package ratelimit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
)

// Claim is what a request shows of its sender, unverified. clientOf decides which
// client it counts for.
type Claim struct {
	Bearer  string // secret of the Authorization header; "" without one
	Session string // value of the session cookie; "" without one
	Address string // where it comes from
}

// take counts one request of a client in the database, and also returns the arrival
// time that is stored there, in microseconds.
//
// The upsert both decides and counts, so that two processes never let the same
// place in the burst pass twice. It returns no row for a refused request; the
// second statement then reads how long the client has to wait.
func take(ctx context.Context, tx *db.Tx, client string, p Policy) (d Decision, arrival int64, err error) {
	arrival, err = tx.RateTake(ctx, query.RateTakeParams{Client: client, Now: tx.Now, Every: p.Every().Microseconds(), Span: p.span()})
	if err == nil {
		return p.decision(true, arrival, tx.Now), arrival, nil
	}
	if !db.IsNotFound(err) {
		return Decision{}, 0, fmt.Errorf("take a request of %s: %w", client, err)
	}
	if arrival, err = tx.RateArrival(ctx, client); err != nil {
		return Decision{}, 0, fmt.Errorf("read the rate of %s: %w", client, err)
	}
	return p.decision(false, arrival, tx.Now), arrival, nil
}

// clientOf returns the client that a claim counts for: its key, else its session,
// else its address (decisions 13). A bearer secret that is no active key counts for
// the address, so that guessing secrets has a limit too; a session beside it is not
// looked at.
func clientOf(ctx context.Context, tx *db.Tx, c Claim) (string, error) {
	if c.Bearer != "" {
		key, err := tx.RateKey(ctx, hash(c.Bearer))
		if err == nil {
			return key, nil
		}
		if !db.IsNotFound(err) {
			return "", fmt.Errorf("look up key: %w", err)
		}
	} else if c.Session != "" {
		session, err := tx.SessionGet(ctx, hash(c.Session))
		if err == nil && session.ExpiresAt > tx.Now {
			return contract.SessionCookie + " " + hash(c.Session), nil
		}
		if err != nil && !db.IsNotFound(err) {
			return "", fmt.Errorf("look up session: %w", err)
		}
	}
	return c.Address, nil
}

// hash is the form in which keys and sessions are stored. Comparing hashes also
// keeps secrets out of the counter's memory and of the rows.
func hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// Forget removes clients that have earned their whole burst back and returns how
// many. Such a row says the same as no row. It may run at any time, beside any
// counter: a client that comes back starts with a whole burst, which it has anyway.
func Forget(ctx context.Context, d *db.DB) (n int64, err error) {
	err = d.Write(ctx, func(tx *db.Tx) (err error) {
		n, err = tx.RateForget(ctx, tx.Now)
		return err
	})
	return n, err
}
