// Package idempotency lets a caller repeat a request safely: the key that comes
// with the request leads to the first answer, and the work is not done a second
// time (decisions 7).
//
// What always holds: of equal concurrent requests, one is worked on. A key that is
// answered stays answered, byte for byte, for 24 hours. A request that is refused
// or dies leaves its key free. The answer is written in the transaction of the work
// (Hold.Finish), so neither exists without the other; a hold that was lost
// meanwhile fails that transaction.
//
// What makes two requests equal, the fingerprint, is left to the doors. Start
// reading at Begin.
package idempotency

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
)

// Lifetimes of a key.
const (
	// AnswerLife is how long an answer is kept, from its completion (decisions 7).
	AnswerLife = 24 * time.Hour
	// holdLife is how long a key stays taken after its process died. Callers are
	// promised 10 seconds (decisions 7).
	holdLife = 10 * time.Second
	// keepEvery is how often a hold is extended: often enough within holdLife that
	// one extension may fail.
	keepEvery = 3 * time.Second
)

// MaxKey is the longest key that is accepted, in bytes (decisions 7). The doors
// enforce it.
const MaxKey = 255

// Request is what came with a key. A key counts within its workspace and route: two
// workspaces, or two routes, never share one.
type Request struct {
	WorkspaceID string
	Route       string
	Key         string
	Fingerprint string // equal for equal requests
}

// Answer is a response as it is sent again: the HTTP status and the body's bytes.
type Answer struct {
	Status int
	Body   []byte
}

// Hold is a key while its request is worked on. The holder calls Finish at most
// once, in the transaction of the work, and always Release at the end. A goroutine
// extends the hold until then.
type Hold struct {
	db      *db.DB
	request Request
	holder  string // a new id for each hold: one that lapsed cannot touch its successor's key
	stop    context.CancelFunc
	kept    sync.WaitGroup
}

// errLost reports that a hold lapsed and another request has the key. Only the log
// sees it.
var errLost = errors.New("the idempotency key is held by another request")

// Begin takes a key, or returns the answer that the key already has; without an
// error, exactly one of hold and answer is not nil. One upsert takes a key that is
// free, lapsed or past its time, so of concurrent requests only one can have it.
// Errors: idempotency_key_reused, idempotency_in_progress.
func Begin(ctx context.Context, d *db.DB, r Request) (hold *Hold, answer *Answer, err error) {
	holder := id.New("HLD-")
	err = d.Write(ctx, func(tx *db.Tx) error {
		answer = nil
		n, err := take(ctx, tx, r, holder, tx.Now+holdLife.Microseconds())
		if err != nil {
			return err
		}
		if n == 0 {
			answer, err = known(ctx, tx, r)
		}
		return err
	})
	if err != nil || answer != nil {
		return nil, answer, err
	}
	hold = &Hold{db: d, request: r, holder: holder}
	hold.keep(ctx)
	return hold, nil, nil
}

// take writes a hold of a key that is free, and returns how many rows it changed, 0 or 1.
func take(ctx context.Context, tx *db.Tx, r Request, holder string, lapsesAt int64) (n int64, err error) {
	n, err = tx.IdempotencyHold(ctx, query.IdempotencyHoldParams{
		WorkspaceID: r.WorkspaceID, Route: r.Route, Key: r.Key, Fingerprint: r.Fingerprint, Holder: holder, LapsesAt: lapsesAt, Now: tx.Now,
		RowSum: keyRows.Of(rowOf(r, holder)),
	})
	if err != nil {
		return 0, fmt.Errorf("hold idempotency key: %w", err)
	}
	return n, nil
}

// rowOf is the row of a hold.
func rowOf(r Request, holder string) query.Idempotency {
	return query.Idempotency{WorkspaceID: r.WorkspaceID, Route: r.Route, Key: r.Key, Fingerprint: r.Fingerprint, Holder: holder}
}

// known answers for a key that another request has or had. The row can be gone
// already: its request was refused between the two statements. The caller then
// retries, as it does for one in progress. Another fingerprint is refused even
// while the first request still runs, because waiting would not help.
func known(ctx context.Context, tx *db.Tx, r Request) (*Answer, error) {
	row, err := tx.IdempotencyGet(ctx, query.IdempotencyGetParams{WorkspaceID: r.WorkspaceID, Route: r.Route, Key: r.Key})
	if db.IsNotFound(err) {
		return nil, inProgress(time.Second) // given up a moment ago
	}
	if err != nil {
		return nil, fmt.Errorf("read idempotency key: %w", err)
	}
	if row.Fingerprint != r.Fingerprint {
		return nil, fault.New(fault.IdempotencyKeyReused, "This Idempotency-Key was already used for another request.")
	}
	if row.Status == 0 {
		return nil, inProgress(time.Second)
	}
	return &Answer{Status: int(row.Status), Body: []byte(row.Body)}, nil
}

// inProgress is the refusal that asks the caller to come back.
func inProgress(wait time.Duration) error {
	return fault.New(fault.IdempotencyInProgress, "The first request with this Idempotency-Key is still in progress.").After(wait)
}

// keep extends the hold until Release, so that it lapses soon after a process dies,
// and never while a slow one still works. It ignores the caller's cancellation: a
// client that hangs up does not stop the work, and so must not free the key under
// it.
func (h *Hold) keep(ctx context.Context) {
	ctx, h.stop = context.WithCancel(context.WithoutCancel(ctx))
	h.kept.Go(func() {
		tick := time.NewTicker(keepEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				// A hold that cannot be prolonged is found lost by Finish.
				_ = h.prolong(ctx)
			}
		}
	})
}

// prolong extends the hold once. A hold that another request has taken over matches
// no row, which is no error here.
func (h *Hold) prolong(ctx context.Context) error {
	return h.db.Write(ctx, func(tx *db.Tx) error {
		_, err := tx.IdempotencyKeep(ctx, query.IdempotencyKeepParams{
			LapsesAt: tx.Now + holdLife.Microseconds(), WorkspaceID: h.request.WorkspaceID, Route: h.request.Route, Key: h.request.Key, Holder: h.holder,
		})
		return err
	})
}

// Finish stores the answer, in the transaction of the work that it reports. It
// fails with idempotency_in_progress when the hold is lost; the caller must then
// let the transaction roll back, because the request that took over does the same
// work.
func (h *Hold) Finish(ctx context.Context, tx *db.Tx, a Answer) error {
	n, err := finish(ctx, tx, h.request, h.holder, a)
	if err != nil {
		return err
	}
	if n == 0 {
		return fault.New(fault.IdempotencyInProgress, "Another request with this Idempotency-Key has taken over.").After(time.Second).Wrap(errLost)
	}
	return nil
}

// finish stores an answer if holder still has the key, and returns the number of
// rows that it changed, 0 or 1.
func finish(ctx context.Context, tx *db.Tx, r Request, holder string, a Answer) (n int64, err error) {
	row := rowOf(r, holder)
	row.Status, row.Body, row.ExpiresAt = int64(a.Status), string(a.Body), tx.Now+AnswerLife.Microseconds()
	n, err = tx.IdempotencyFinish(ctx, query.IdempotencyFinishParams{
		Status: row.Status, Body: row.Body, ExpiresAt: row.ExpiresAt, RowSum: keyRows.Of(row),
		WorkspaceID: row.WorkspaceID, Route: row.Route, Key: row.Key, Holder: row.Holder,
	})
	if err != nil {
		return 0, fmt.Errorf("keep idempotent answer: %w", err)
	}
	return n, nil
}

// Keep stores the answer of a request that needs no hold, because rows of its own
// already keep equal requests apart. It runs in the transaction of that work. An
// answer that the key has already, and that has not expired, stays.
func Keep(ctx context.Context, tx *db.Tx, r Request, a Answer) error {
	holder := id.New("HLD-")
	if _, err := take(ctx, tx, r, holder, tx.Now); err != nil {
		return err
	}
	_, err := finish(ctx, tx, r, holder, a)
	return err
}

// Kept returns the answer that a request's key has. It is nil when there is none,
// when it has expired, or when it belongs to a request with another fingerprint.
func Kept(ctx context.Context, tx *db.Tx, r Request) (*Answer, error) {
	row, err := tx.IdempotencyGet(ctx, query.IdempotencyGetParams{WorkspaceID: r.WorkspaceID, Route: r.Route, Key: r.Key})
	if err != nil && !db.IsNotFound(err) {
		return nil, fmt.Errorf("read idempotency key: %w", err)
	}
	if err != nil || row.Status == 0 || row.Fingerprint != r.Fingerprint || row.ExpiresAt <= tx.Now {
		return nil, nil
	}
	return &Answer{Status: int(row.Status), Body: []byte(row.Body)}, nil
}

// Release stops the extension and frees a key that has no answer. After Finish has
// committed, the answer stays. A release that fails is harmless: the key lapses
// within holdLife.
func (h *Hold) Release(ctx context.Context) error {
	h.stop()
	h.kept.Wait()
	ctx = context.WithoutCancel(ctx) // also when the caller is gone
	err := h.db.Write(ctx, func(tx *db.Tx) error {
		_, err := tx.IdempotencyFree(ctx, query.IdempotencyFreeParams{
			WorkspaceID: h.request.WorkspaceID, Route: h.request.Route, Key: h.request.Key, Holder: h.holder,
		})
		return err
	})
	if err != nil {
		return fmt.Errorf("free idempotency key: %w", err)
	}
	return nil
}

// Forget removes expired answers, and holds that lapsed a day ago, and returns how
// many. Begin takes over a lapsed hold, so removing it is not urgent.
func Forget(ctx context.Context, d *db.DB) (n int64, err error) {
	err = d.Write(ctx, func(tx *db.Tx) (err error) {
		n, err = tx.IdempotencyForget(ctx, query.IdempotencyForgetParams{Now: tx.Now, LapsedBy: tx.Now - AnswerLife.Microseconds()})
		return err
	})
	return n, err
}
