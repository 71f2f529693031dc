// Package lease queues work in database rows. Workers claim frames from it over the
// network, and the server's own processes claim the rest: packaging, removing, fetching,
// calling webhooks.
//
// A row is one item of work. It is added in the caller's transaction and deleted when it
// is finished. In between it waits, or one holder has it until the lease lapses.
//
// What always holds: a row is unique by queue, subject and item. Every claim raises its
// attempt number, and every report (heartbeat, finish, fail, release) repeats attempt and
// holder, so that a report of an earlier claim changes nothing (ErrLost). A lapsed or
// failed row waits again and keeps its history (Failures, Code). A release is no failure.
// The holder of a lapsed claim may Resume it while nobody else has claimed the row.
//
// A Queue sets how long a lease lives, what happens when it lapses, and after how many
// failures a row becomes a dead letter, which is not claimed until an operator requeues
// it. The package knows neither frames nor jobs. All times are those of the transaction.
// Start reading at Add, Claim and Finish; Runner works on a queue inside the server,
// Reaper ends lapsed leases, and Pulse tells outages of the service from silent holders.
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

// ErrLost means that the reporter no longer holds the lease.
var ErrLost = errors.New("lease lost")

// ExpireQueue is the queue of things to remove at a certain time. The subject is
// "<kind>/<id>".
const ExpireQueue = "expire"

// Lease is a row, as it was when it was read.
type Lease struct {
	ID      string
	Queue   string
	Subject string // what the work belongs to, such as a job
	Item    int64  // which part of it, such as a frame number
	Attempt int64  // the fence; 1 for the first claim
	Holder  string
	// Failures counts attempts that failed or lapsed; Code and Reason are those of the
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

// Topic returns the topic that is announced when work of queue becomes due.
func Topic(queue string) string { return "lease:" + queue }

// ID returns the id of an item.
func ID(queue, subject string, item int64) string {
	return fmt.Sprintf("%s:%s:%d", queue, subject, item)
}

// Add puts one item into queue, due at the given time, or at once for the zero time. It
// does nothing if the same item is already there.
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

// AddOrAdvance is Add for an item that may be there already: one that waits becomes due
// at the given time at the latest. One that is held stays held. tx and the holder lock
// the same row, so no work is lost: a holder whose transaction begins with Beat, reads
// what is left and then finishes, either sees what tx wrote, or finishes first and tx
// adds the item again.
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
		// The item was finished between the two statements: add it again.
	}
}

// AddSpan puts count items into queue: first, first+step, and so on. It fails if one is
// already there.
func AddSpan(ctx context.Context, tx *db.Tx, queue, subject string, first, step, count int64) error {
	tx.Announce(Topic(queue))
	added, err := tx.LeaseAddSpan(ctx, query.LeaseAddSpanParams{
		Queue: queue, Subject: subject, First: first, Step: step, Count: count, DueAt: tx.Now,
	})
	return addedAll(queue, subject, added, count, err)
}

// AddItems puts items into queue by their numbers, each once. It fails if one is already
// there.
func AddItems(ctx context.Context, tx *db.Tx, queue, subject string, items []int64) error {
	text, err := json.Marshal(append([]int64{}, items...)) // never null
	if err != nil {
		return fmt.Errorf("add leases %s %s: %w", queue, subject, err)
	}
	tx.Announce(Topic(queue))
	added, err := tx.LeaseAddItems(ctx, query.LeaseAddItemsParams{Queue: queue, Subject: subject, DueAt: tx.Now, Items: string(text)})
	return addedAll(queue, subject, added, int64(len(items)), err)
}

// addedAll is the error of a statement that was to add count leases.
func addedAll(queue, subject string, added, count int64, err error) error {
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

// Claim leases to holder up to limit items of queue that wait and are due, the earliest
// first. The leases lapse after life.
func Claim(ctx context.Context, tx *db.Tx, queue, holder string, limit int, life time.Duration) ([]Lease, error) {
	rows, err := tx.LeaseClaim(ctx, query.LeaseClaimParams{
		Queue: queue, Holder: holder, Now: tx.Now, LapsesAt: tx.Now + life.Microseconds(), Max: int64(limit),
	})
	return claimed(rows, err)
}

// ClaimOf leases to holder up to limit items of subject in queue that wait and are due,
// the lowest numbers first, except those in skipped.
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

// ClaimIDs leases to holder those of the named items that wait and are due, even if they
// failed on holder before. It leaves out items that others have claimed meanwhile. The rows'
// due_at becomes the time of the claim.
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
	// RETURNING guarantees no order.
	slices.SortFunc(out, func(a, b Lease) int {
		return cmp.Or(cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Item, b.Item))
	})
	return out, nil
}

// Reopen queues an item again that the claim with number attempt finished. The next claim
// gets a higher number, so that a late report is still refused.
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

// CountDue counts the items of queue that wait and are due, up to most.
func CountDue(ctx context.Context, tx *db.Tx, queue string, most int) (int, error) {
	n, err := tx.LeaseCountDue(ctx, query.LeaseCountDueParams{Queue: queue, Now: tx.Now, Most: int64(most)})
	if err != nil {
		return 0, fmt.Errorf("count due leases of %s: %w", queue, err)
	}
	return int(n), nil
}

// Ref identifies a claim in a report: only a report by the holder of the current attempt
// counts.
type Ref struct {
	ID      string
	Holder  string
	Attempt int64
}

// Ref returns the reference with which the holder of l reports.
func (l Lease) Ref() Ref { return Ref{ID: l.ID, Holder: l.Holder, Attempt: l.Attempt} }

// Beat is a heartbeat: the lease lapses after life from now. progress is 0 to 1. Error:
// ErrLost.
func Beat(ctx context.Context, tx *db.Tx, r Ref, progress float64, life time.Duration) error {
	n, err := tx.LeaseBeat(ctx, query.LeaseBeatParams{
		LeaseID: r.ID, Holder: r.Holder, Attempt: r.Attempt,
		LapsesAt: tx.Now + life.Microseconds(), Progress: int64(min(max(progress, 0), 1) * 1000),
	})
	return one("beat", r, n, err)
}

// BeatAll is Beat for several leases, each with its progress. It returns the ids of those that
// are lost, [] for none.
func BeatAll(ctx context.Context, tx *db.Tx, refs []Ref, progress []float64, life time.Duration) (lost []string, err error) {
	lost = []string{}
	for i, ref := range refs {
		err := Beat(ctx, tx, ref, progress[i], life)
		if errors.Is(err, ErrLost) {
			lost = append(lost, ref.ID)
			continue
		}
		if err != nil {
			return lost, err
		}
	}
	return lost, nil
}

// Check reports whether a claim still holds, before work that it pays for. It changes and
// locks nothing, so what ends the claim checks again. Error: ErrLost.
func Check(ctx context.Context, tx *db.Tx, r Ref) error {
	row, err := tx.LeaseGet(ctx, r.ID)
	if db.IsNotFound(err) || (err == nil && (row.Holder != r.Holder || row.Attempt != r.Attempt)) {
		return ErrLost
	}
	if err != nil {
		return fmt.Errorf("check lease %s: %w", r.ID, err)
	}
	return nil
}

// Finish deletes the row of finished work. Error: ErrLost.
func Finish(ctx context.Context, tx *db.Tx, r Ref) error {
	n, err := tx.LeaseFinish(ctx, query.LeaseFinishParams{LeaseID: r.ID, Holder: r.Holder, Attempt: r.Attempt})
	return one("finish", r, n, err)
}

// Fail returns the work as failed; it is due again after delay. The returned lease counts
// this failure too. Error: ErrLost.
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

// Release returns the work unfinished, which is no failure. Error: ErrLost.
func Release(ctx context.Context, tx *db.Tx, r Ref, queue string) error {
	n, err := tx.LeaseRelease(ctx, query.LeaseReleaseParams{LeaseID: r.ID, Holder: r.Holder, Attempt: r.Attempt})
	tx.Announce(Topic(queue))
	return one("release", r, n, err)
}

// HasLapsed reports whether a claim lapsed and nobody has claimed the item since.
func HasLapsed(ctx context.Context, tx *db.Tx, r Ref) (bool, error) {
	row, err := tx.LeaseGet(ctx, r.ID)
	if db.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read lease %s: %w", r.ID, err)
	}
	return row.State == "waiting" && row.LapsedHolder == r.Holder && row.Attempt == r.Attempt, nil
}

// LockLapsed is HasLapsed, and keeps others from claiming the item until tx ends.
func LockLapsed(ctx context.Context, tx *db.Tx, r Ref) (bool, error) {
	if _, err := tx.LeaseLock(ctx, r.ID); err != nil && !db.IsNotFound(err) {
		return false, fmt.Errorf("lock lease %s: %w", r.ID, err)
	}
	return HasLapsed(ctx, tx, r)
}

// Resume gives the holder of a claim that lapsed (LockLapsed) the item back, under the same
// attempt number. counted says that the lapse counted as a failure, which it no longer does.
// Error: ErrLost.
func Resume(ctx context.Context, tx *db.Tx, r Ref, counted bool, life time.Duration) error {
	p := query.LeaseResumeParams{LeaseID: r.ID, Holder: r.Holder, Attempt: r.Attempt, Now: tx.Now, LapsesAt: tx.Now + life.Microseconds()}
	if counted {
		p.Failed = 1
	}
	n, err := tx.LeaseResume(ctx, p)
	return one("resume", r, n, err)
}

// Lock keeps other transactions from changing an item until tx ends. It does nothing if
// there is no such item.
func Lock(ctx context.Context, tx *db.Tx, queue, subject string, item int64) error {
	if _, err := tx.LeaseLock(ctx, ID(queue, subject, item)); err != nil && !db.IsNotFound(err) {
		return fmt.Errorf("lock lease %s %s: %w", queue, subject, err)
	}
	return nil
}

// Reschedule returns the work, due again at due. This round of it succeeded, so its
// failures count from zero. Error: ErrLost.
func Reschedule(ctx context.Context, tx *db.Tx, r Ref, queue string, due time.Time) error {
	n, err := tx.LeaseReschedule(ctx, query.LeaseRescheduleParams{DueAt: dueAt(tx, due), LeaseID: r.ID, Holder: r.Holder, Attempt: r.Attempt})
	tx.Announce(Topic(queue))
	return one("reschedule", r, n, err)
}

// Drop removes all work of a subject, even if it is held; a holder's next report
// gets ErrLost.
func Drop(ctx context.Context, tx *db.Tx, queue, subject string) error {
	if _, err := tx.LeaseDrop(ctx, query.LeaseDropParams{Queue: queue, Subject: subject}); err != nil {
		return fmt.Errorf("drop leases %s %s: %w", queue, subject, err)
	}
	return nil
}

// Remove removes one item of a subject as Drop does.
func Remove(ctx context.Context, tx *db.Tx, queue, subject string, item int64) error {
	if err := tx.LeaseRemove(ctx, ID(queue, subject, item)); err != nil {
		return fmt.Errorf("remove lease %s %s: %w", queue, subject, err)
	}
	return nil
}

// Erase removes all work of a subject as Drop does, and its dead letters.
func Erase(ctx context.Context, tx *db.Tx, queue, subject string) error {
	if err := Drop(ctx, tx, queue, subject); err != nil {
		return err
	}
	if err := tx.DeadLetterErase(ctx, query.DeadLetterEraseParams{Queue: queue, Subject: subject}); err != nil {
		return fmt.Errorf("erase dead letters of %s: %w", queue, err)
	}
	return nil
}

// one turns the count of changed rows of a report into its error.
func one(verb string, r Ref, n int64, err error) error {
	if err != nil {
		return fmt.Errorf("%s %s: %w", verb, r.ID, err)
	}
	if n == 0 {
		return fmt.Errorf("%s %s attempt %d: %w", verb, r.ID, r.Attempt, ErrLost)
	}
	return nil
}
