package lease

import (
	"context"
	"fmt"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
)

// Audit reports leases whose id, fence or state contradicts itself, and dead letters that
// are not as they were written. Whether the right work is queued is for the packages that
// queue it. An error means that the audit did not finish.
func Audit(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) error {
	for after := ""; ; {
		rows, err := tx.LeaseAfter(ctx, after)
		if err != nil {
			return fmt.Errorf("audit leases: %w", err)
		}
		if len(rows) == 0 {
			break
		}
		for _, r := range rows {
			after = r.LeaseID
			if r.LeaseID != ID(r.Queue, r.Subject, r.Item) {
				breach("a lease is named for its item", r.LeaseID, "it is %d of %s in %s", r.Item, r.Subject, r.Queue)
			}
			if r.Guard != fmt.Sprintf("%d %d %s", r.Attempt, r.Failures, r.Holder) {
				breach("a lease's fence stands twice", r.LeaseID, "attempt %d, %d failures, holder %q; the guard says %q", r.Attempt, r.Failures, r.Holder, r.Guard)
			}
			if why := strangeState(r, tx.Now); why != "" {
				breach("a lease waits or is held", r.LeaseID, "%s: %s", r.State, why)
			}
		}
	}
	return deadLetterRows.Audit(ctx, tx, breach, nil)
}

// longestLife bounds how far ahead a lease may lapse, whatever life its queue gives it: a
// wrong clock is repaired long before.
const longestLife = 7 * 24 * time.Hour

// strangeState says what contradicts a lease's state; "" if nothing does.
func strangeState(r query.Lease, now int64) string {
	held := r.State == "held"
	switch {
	case !held && r.State != "waiting":
		return "there is no such state"
	case held != (r.Holder != ""):
		return fmt.Sprintf("its holder is %q", r.Holder)
	case held != (r.LapsesAt != 0), r.LapsesAt > now+longestLife.Microseconds():
		return fmt.Sprintf("it lapses at %d", r.LapsesAt)
	case r.Progress < 0 || r.Progress > 1000 || (!held && r.Progress != 0):
		return fmt.Sprintf("its progress is %d", r.Progress)
	case r.DueAt <= 0:
		return fmt.Sprintf("it is due at %d", r.DueAt)
	case held && r.Attempt == 0:
		return "it was never claimed"
	case r.Failures > 0 && r.LastCode == "" && r.LastError == "":
		return fmt.Sprintf("nothing says why it failed %d times", r.Failures)
	}
	return ""
}
