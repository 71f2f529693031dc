// Package lease is work in rows: one engine for frames, which workers claim
// over the network, and for the server's own work: packing, removing, fetching,
// calling webhooks.
//
// A row is work still to be done. It is added in the caller's transaction and
// leaves when it is finished. In between it waits, or one holder has it until
// the lease lapses.
//
// What always holds: a row is unique by queue, subject and item; every claim
// raises its attempt number, and every report (beat, finish, fail, release)
// must repeat attempt and holder, so that a report of an earlier claim changes
// nothing (ErrLost); a lapsed or failed row waits again, and what it says of
// its past (Failures, Code) is kept; giving a row back is no failure.
//
// A Queue says how its work is treated: how long a lease lives, what answers a
// lapse, and after how many failures a row becomes a dead letter, which nobody
// claims until an operator puts it back. The package knows neither frames nor
// jobs. All times are those of the transaction. Start reading at Add, Claim and
// Finish; Runner works off a queue inside the server, Reaper takes back what
// silent holders have.
package lease

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
)

// ErrLost says that a lease is no longer the reporter's.
var ErrLost = errors.New("lease lost")

// ExpireQueue is the queue of what is to be removed at its time. The subject
// says what: "<kind>/<id>".
const ExpireQueue = "expire"

// Lease is a row.
type Lease struct {
	ID      string
	Queue   string
	Subject string // what the work belongs to, such as a job
	Item    int64  // which part of it, such as a frame number
	Attempt int64  // the fence; 1 for the first claim
	Holder  string
	// Failures counts tries that failed or lapsed; Code and Reason tell the
	// last one.
	Failures int64
	Code     string
	Reason   string
	Progress float64 // 0 to 1
	LapsesAt time.Time
}

func of(r query.Lease) Lease {
	return Lease{
		ID: r.LeaseID, Queue: r.Queue, Subject: r.Subject, Item: r.Item, Attempt: r.Attempt, Holder: r.Holder,
		Failures: r.Failures, Code: r.LastCode, Reason: r.LastError,
		Progress: float64(r.Progress) / 1000, LapsesAt: db.Time(r.LapsesAt),
	}
}

// Topic is announced whenever work of queue becomes ready.
func Topic(queue string) string { return "lease:" + queue }

// ID is the id of a piece of work.
func ID(queue, subject string, item int64) string {
	return fmt.Sprintf("%s:%s:%d", queue, subject, item)
}

// Add puts one piece of work into queue, due at once or at the given time. It
// does nothing when the same piece is already there.
func Add(ctx context.Context, tx *db.Tx, queue, subject string, item int64, due time.Time) error {
	tx.Announce(Topic(queue))
	_, err := tx.LeaseAdd(ctx, query.LeaseAddParams{
		LeaseID: ID(queue, subject, item),
		Queue:   queue, Subject: subject, Item: item, DueAt: dueAt(tx, due),
	})
	if err != nil {
		return fmt.Errorf("add lease %s %s: %w", queue, subject, err)
	}
	return nil
}

// AddOrAdvance is Add for a piece that may be there already: one that waits becomes due
// by then at the latest. One that is held stays so; but whoever ends it after
// looking for more work, in a transaction that began with Beat, has seen what tx
// has written, or adds it again.
func AddOrAdvance(ctx context.Context, tx *db.Tx, queue, subject string, item int64, due time.Time) error {
	p := query.LeaseAddParams{
		LeaseID: ID(queue, subject, item),
		Queue:   queue, Subject: subject, Item: item, DueAt: dueAt(tx, due),
	}
	tx.Announce(Topic(queue))
	for {
		n, err := tx.LeaseAdd(ctx, p)
		if err == nil && n == 0 {
			n, err = tx.LeaseAdvance(ctx, query.LeaseAdvanceParams{DueAt: p.DueAt, LeaseID: p.LeaseID})
		}
		if err != nil {
			return fmt.Errorf("add lease %s %s: %w", queue, subject, err)
		}
		if n == 1 {
			return nil
		}
		// It was ended between the two.
	}
}

// AddSpan puts count pieces into queue: items first, first+step, and so on.
func AddSpan(ctx context.Context, tx *db.Tx, queue, subject string, first, step, count int64) error {
	tx.Announce(Topic(queue))
	added, err := tx.LeaseAddSpan(ctx, query.LeaseAddSpanParams{
		Queue: queue, Subject: subject, First: first, Step: step, Count: count, DueAt: tx.Now,
	})
	if err != nil {
		return fmt.Errorf("add %d leases %s %s: %w", count, queue, subject, err)
	}
	if added != count {
		return fmt.Errorf("add %d leases %s %s: %d were already there", count, queue, subject, count-added)
	}
	return nil
}

func dueAt(tx *db.Tx, due time.Time) int64 {
	if due.IsZero() {
		return tx.Now
	}
	return db.Micros(due)
}

// Claim gives holder up to limit pieces of queue that wait and are due, the
// earliest first, until the lease lapses after life.
func Claim(ctx context.Context, tx *db.Tx, queue, holder string, limit int, life time.Duration) ([]Lease, error) {
	rows, err := tx.LeaseClaim(ctx, query.LeaseClaimParams{
		Queue: queue, Holder: holder, Now: tx.Now, LapsesAt: tx.Now + life.Microseconds(), Max: int64(limit),
	})
	return claimed(rows, err)
}

// ClaimOf gives holder up to limit pieces of subject in queue that wait and are due, the
// lowest items first, except those in skipped.
func ClaimOf(ctx context.Context, tx *db.Tx, queue, subject string, skipped []int64, holder string, limit int, life time.Duration) ([]Lease, error) {
	items, err := json.Marshal(append([]int64{}, skipped...)) // never null
	if err != nil {
		return nil, fmt.Errorf("claim: %w", err)
	}
	rows, err := tx.LeaseClaimOf(ctx, query.LeaseClaimOfParams{
		Queue: queue, Subject: subject, Skipped: string(items), Holder: holder, Now: tx.Now,
		LapsesAt: tx.Now + life.Microseconds(), Max: int64(limit),
	})
	return claimed(rows, err)
}

// ClaimIDs gives holder those of the named pieces that wait and are due, whatever
// holder did with them before. Pieces that others took meanwhile are not among
// the leases; the caller chooses others.
func ClaimIDs(ctx context.Context, tx *db.Tx, ids []string, holder string, life time.Duration) ([]Lease, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	named, err := json.Marshal(ids)
	if err != nil {
		return nil, fmt.Errorf("claim: %w", err)
	}
	rows, err := tx.LeaseClaimIDs(ctx, query.LeaseClaimIDsParams{
		Ids: string(named), Holder: holder, Now: tx.Now, LapsesAt: tx.Now + life.Microseconds(),
	})
	return claimed(rows, err)
}

func claimed(rows []query.Lease, err error) ([]Lease, error) {
	if err != nil {
		return nil, fmt.Errorf("claim: %w", err)
	}
	out := make([]Lease, 0, len(rows))
	for _, r := range rows {
		out = append(out, of(r))
	}
	// RETURNING promises no order.
	slices.SortFunc(out, func(a, b Lease) int {
		return cmp.Or(cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Item, b.Item))
	})
	return out, nil
}

// Reopen puts a piece back that was finished by its claim number attempt; the
// next claim counts on from there, so that a late report is still refused.
func Reopen(ctx context.Context, tx *db.Tx, queue, subject string, item, attempt int64) error {
	tx.Announce(Topic(queue))
	err := tx.LeaseReopen(ctx, query.LeaseReopenParams{
		LeaseID: ID(queue, subject, item), Queue: queue, Subject: subject, Item: item, DueAt: tx.Now, Attempt: attempt,
	})
	if err != nil {
		return fmt.Errorf("reopen lease %s %s %d: %w", queue, subject, item, err)
	}
	return nil
}

// CountDue counts the pieces of queue that wait and are due, up to most.
func CountDue(ctx context.Context, tx *db.Tx, queue string, most int) (int, error) {
	n, err := tx.LeaseCountDue(ctx, query.LeaseCountDueParams{Queue: queue, Now: tx.Now, Most: int64(most)})
	if err != nil {
		return 0, fmt.Errorf("count due leases of %s: %w", queue, err)
	}
	return int(n), nil
}

// Ref names a claim in a report: only a report of the holder of that very attempt counts.
type Ref struct {
	ID      string
	Holder  string
	Attempt int64
}

// Ref is how the holder of l names it.
func (l Lease) Ref() Ref { return Ref{ID: l.ID, Holder: l.Holder, Attempt: l.Attempt} }

// Beat keeps a lease alive for life more.
func Beat(ctx context.Context, tx *db.Tx, r Ref, progress float64, life time.Duration) error {
	n, err := tx.LeaseBeat(ctx, query.LeaseBeatParams{
		LeaseID: r.ID, Holder: r.Holder, Attempt: r.Attempt,
		LapsesAt: tx.Now + life.Microseconds(), Progress: int64(min(max(progress, 0), 1) * 1000),
	})
	return one("beat", r, n, err)
}

// Finish ends the work: the row leaves.
func Finish(ctx context.Context, tx *db.Tx, r Ref) error {
	n, err := tx.LeaseFinish(ctx, query.LeaseFinishParams{LeaseID: r.ID, Holder: r.Holder, Attempt: r.Attempt})
	return one("finish", r, n, err)
}

// Fail gives the work back as failed; it is due again after delay. The
// returned lease says how often it has failed by now.
func Fail(ctx context.Context, tx *db.Tx, r Ref, code, reason string, delay time.Duration) (Lease, error) {
	row, err := tx.LeaseFail(ctx, query.LeaseFailParams{
		LeaseID: r.ID, Holder: r.Holder, Attempt: r.Attempt,
		Code: code, Error: reason, DueAt: tx.Now + delay.Microseconds(),
	})
	if db.IsNotFound(err) {
		return Lease{}, fmt.Errorf("fail %s attempt %d: %w", r.ID, r.Attempt, ErrLost)
	}
	if err != nil {
		return Lease{}, fmt.Errorf("fail %s: %w", r.ID, err)
	}
	tx.Announce(Topic(row.Queue))
	return of(row), nil
}

// Release gives the work back undone; it is no failure.
func Release(ctx context.Context, tx *db.Tx, r Ref, queue string) error {
	n, err := tx.LeaseRelease(ctx, query.LeaseReleaseParams{LeaseID: r.ID, Holder: r.Holder, Attempt: r.Attempt})
	tx.Announce(Topic(queue))
	return one("release", r, n, err)
}

// Lock keeps others from changing a piece until tx ends, where it is there.
func Lock(ctx context.Context, tx *db.Tx, queue, subject string, item int64) error {
	if _, err := tx.LeaseLock(ctx, ID(queue, subject, item)); err != nil && !db.IsNotFound(err) {
		return fmt.Errorf("lock lease %s %s: %w", queue, subject, err)
	}
	return nil
}

// Reschedule gives the work back, to be done again at due. What was to be done now
// is done: its failures are counted anew.
func Reschedule(ctx context.Context, tx *db.Tx, r Ref, queue string, due time.Time) error {
	n, err := tx.LeaseReschedule(ctx, query.LeaseRescheduleParams{DueAt: dueAt(tx, due), LeaseID: r.ID, Holder: r.Holder, Attempt: r.Attempt})
	tx.Announce(Topic(queue))
	return one("reschedule", r, n, err)
}

// Drop removes all work of a subject, whoever holds it.
func Drop(ctx context.Context, tx *db.Tx, queue, subject string) error {
	if _, err := tx.LeaseDrop(ctx, query.LeaseDropParams{Queue: queue, Subject: subject}); err != nil {
		return fmt.Errorf("drop leases %s %s: %w", queue, subject, err)
	}
	return nil
}

func one(verb string, r Ref, n int64, err error) error {
	if err != nil {
		return fmt.Errorf("%s %s: %w", verb, r.ID, err)
	}
	if n == 0 {
		return fmt.Errorf("%s %s attempt %d: %w", verb, r.ID, r.Attempt, ErrLost)
	}
	return nil
}
