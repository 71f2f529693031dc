// Package idempotency lets a caller send a request again without having it done
// again: the key that comes with the request leads to the first one's answer.
//
// What always holds: of equal requests at once one is worked on; a key that is
// answered stays answered, word for word, for 24 hours; a request that is
// refused or dies leaves its key free. An answer is written in the transaction of
// the work that it tells of (Hold.Finish), so there is never one without the other;
// a hold that was lost meanwhile fails that transaction.
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

// Lives of a key.
const (
	// AnswerLife is how long an answer is kept.
	AnswerLife = 24 * time.Hour
	// holdLife is how long a key stays with a process that died.
	holdLife = 10 * time.Second
	// keepEvery is how often a hold is prolonged.
	keepEvery = 3 * time.Second
)

// MaxKey bounds a key, in bytes.
const MaxKey = 255

// Request is what came with a key.
type Request struct {
	WorkspaceID string
	Route       string
	Key         string
	Fingerprint string // equal for equal requests
}

// Answer is a response as it is sent again.
type Answer struct {
	Status int
	Body   []byte
}

// Hold is a key while its request is worked on. End it with Release.
type Hold struct {
	db      *db.DB
	request Request
	holder  string
	stop    context.CancelFunc
	kept    sync.WaitGroup
}

// errLost says that a hold lapsed and another request has the key.
var errLost = errors.New("the idempotency key is held by another request")

// Begin takes a key, or gives the answer it already has; exactly one of hold and
// answer is not nil when err is. Errors: idempotency_key_reused,
// idempotency_in_progress.
func Begin(ctx context.Context, d *db.DB, r Request) (hold *Hold, answer *Answer, err error) {
	holder := id.New("HLD-")
	err = d.Write(ctx, func(tx *db.Tx) error {
		answer = nil
		n, err := tx.IdempotencyHold(ctx, query.IdempotencyHoldParams{
			WorkspaceID: r.WorkspaceID, Route: r.Route, Key: r.Key, Fingerprint: r.Fingerprint, Holder: holder,
			LapsesAt: tx.Now + holdLife.Microseconds(), Now: tx.Now,
		})
		if err != nil {
			return fmt.Errorf("hold idempotency key: %w", err)
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

// known answers for a key that another request has or had.
func known(ctx context.Context, tx *db.Tx, r Request) (*Answer, error) {
	row, err := tx.IdempotencyGet(ctx, query.IdempotencyGetParams{WorkspaceID: r.WorkspaceID, Route: r.Route, Key: r.Key})
	if db.IsNotFound(err) {
		return nil, inProgress(time.Second) // given up a moment ago
	}
	if err != nil {
		return nil, fmt.Errorf("read idempotency key: %w", err)
	}
	if row.Fingerprint != r.Fingerprint {
		return nil, fault.New(fault.IdempotencyKeyReused, "This Idempotency-Key came with another request before.")
	}
	if row.Status == 0 {
		return nil, inProgress(time.Second)
	}
	return &Answer{Status: int(row.Status), Body: []byte(row.Body)}, nil
}

func inProgress(wait time.Duration) error {
	return fault.New(fault.IdempotencyInProgress, "The first request with this Idempotency-Key is still being worked on.").After(wait)
}

// keep prolongs the hold until Release, so that it lapses soon after a process
// that dies and never under one that is slow.
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

func (h *Hold) prolong(ctx context.Context) error {
	return h.db.Write(ctx, func(tx *db.Tx) error {
		_, err := tx.IdempotencyKeep(ctx, query.IdempotencyKeepParams{
			LapsesAt: tx.Now + holdLife.Microseconds(), WorkspaceID: h.request.WorkspaceID, Route: h.request.Route, Key: h.request.Key, Holder: h.holder,
		})
		return err
	})
}

// Finish keeps the answer, in the transaction of the work that it reports. It
// fails when the hold is lost; the work must not be kept then.
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

func finish(ctx context.Context, tx *db.Tx, r Request, holder string, a Answer) (n int64, err error) {
	n, err = tx.IdempotencyFinish(ctx, query.IdempotencyFinishParams{
		Status: int64(a.Status), Body: string(a.Body), ExpiresAt: tx.Now + AnswerLife.Microseconds(),
		WorkspaceID: r.WorkspaceID, Route: r.Route, Key: r.Key, Holder: holder,
	})
	if err != nil {
		return 0, fmt.Errorf("keep idempotent answer: %w", err)
	}
	return n, nil
}

// Keep keeps the answer of a request that needs no hold, since rows of its own keep
// equal ones apart, in the transaction of its work. An answer that the key had before
// stays.
func Keep(ctx context.Context, tx *db.Tx, r Request, a Answer) error {
	holder := id.New("HLD-")
	_, err := tx.IdempotencyHold(ctx, query.IdempotencyHoldParams{
		WorkspaceID: r.WorkspaceID, Route: r.Route, Key: r.Key, Fingerprint: r.Fingerprint, Holder: holder, LapsesAt: tx.Now, Now: tx.Now,
	})
	if err != nil {
		return fmt.Errorf("hold idempotency key: %w", err)
	}
	_, err = finish(ctx, tx, r, holder, a)
	return err
}

// Kept is the answer that a request's key has; nil when it has none, or that of
// another request.
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

// Release frees a key that has no answer; behind a kept answer it does nothing.
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

// Forget removes answers whose time is over, and holds that lapsed as long ago,
// and returns how many.
func Forget(ctx context.Context, d *db.DB) (n int64, err error) {
	err = d.Write(ctx, func(tx *db.Tx) (err error) {
		n, err = tx.IdempotencyForget(ctx, query.IdempotencyForgetParams{Now: tx.Now, LapsedBy: tx.Now - AnswerLife.Microseconds()})
		return err
	})
	return n, err
}
