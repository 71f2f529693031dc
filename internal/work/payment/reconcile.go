package payment

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/id"
)

// Difference is one that Reconcile found.
type Difference struct {
	TopUpID   string `json:"top_up_id"`  // "" for a page that names none
	SessionID string `json:"session_id"` // "" where the provider has no page
	What      string `json:"what"`       // in words
}

// Reconciled is what a comparison read and found. Cents are those of the top-ups of the
// time.
type Reconciled struct {
	Pages         int          `json:"pages"`   // at the provider, of this service
	TopUps        int          `json:"top_ups"` // rows
	PaidCents     int64        `json:"paid_cents"`
	RefundedCents int64        `json:"refunded_cents"`
	DisputedCents int64        `json:"disputed_cents"`
	Differences   []Difference `json:"differences"`
}

// Reconcile compares the provider's pages that were made in a time with the rows, and the
// rows with the ledger. It changes nothing. A row counts to the time of its own creation,
// its page to the provider's, so a minute on both sides is compared and not counted.
// Errors: payments_unavailable, and a provider that does not answer.
func (p *Payments) Reconcile(ctx context.Context, since, until time.Time) (r Reconciled, err error) {
	if !p.Available() {
		return r, unavailable()
	}
	states := map[string]State{}
	var twice []Difference
	err = p.Provider.List(ctx, since.Add(-margin), until.Add(margin), func(s State) error {
		if !id.Valid(id.TopUp, s.TopUpID) {
			return nil // for something else that the account sells
		}
		if first, known := states[s.TopUpID]; known {
			twice = append(twice, Difference{s.TopUpID, s.SessionID, "the provider has a second page of it, besides " + first.SessionID})
			return nil
		}
		states[s.TopUpID] = s
		return nil
	})
	if err != nil {
		return r, err
	}
	r.Differences = twice
	err = p.DB.Read(ctx, func(tx *db.Tx) error { return r.compare(ctx, tx, states, since, until) })
	for _, s := range states {
		if s.CreatedAt.Before(since) || !s.CreatedAt.Before(until) {
			continue
		}
		r.Pages++
		r.Differences = append(r.Differences, Difference{s.TopUpID, s.SessionID, "the provider has a page, and there is no such top-up"})
	}
	slices.SortFunc(r.Differences, func(a, b Difference) int { return strings.Compare(a.TopUpID+a.What, b.TopUpID+b.What) })
	return r, err
}

// margin is how far the clocks of the provider and of the database may be apart.
const margin = time.Minute

// compare goes through the rows and takes their pages off states.
func (r *Reconciled) compare(ctx context.Context, tx *db.Tx, states map[string]State, since, until time.Time) error {
	lo, hi := since.Add(-2*margin).UnixMicro(), until.Add(2*margin).UnixMicro()
	for after := ""; ; {
		page, err := tx.TopUpsBetween(ctx, query.TopUpsBetweenParams{Since: lo, Until: hi, After: after})
		if err != nil {
			return fmt.Errorf("read top-ups: %w", err)
		}
		if len(page) == 0 {
			return nil
		}
		last := page[len(page)-1].TopUpID
		entries, err := tx.AuditTopUpEntries(ctx, query.AuditTopUpEntriesParams{After: after, Last: last})
		if err != nil {
			return fmt.Errorf("read the ledger of top-ups: %w", err)
		}
		booked := map[string]query.AuditTopUpEntriesRow{}
		for _, e := range entries {
			booked[e.TopUpID+e.WorkspaceID] = e
		}
		for _, row := range page {
			s, known := states[row.TopUpID]
			delete(states, row.TopUpID)
			inTime := row.CreatedAt >= since.UnixMicro() && row.CreatedAt < until.UnixMicro()
			if !inTime && !known {
				continue
			}
			if inTime {
				r.count(row)
			}
			if known {
				r.Pages++
			}
			for _, what := range differences(row, s, known, booked[row.TopUpID+row.WorkspaceID]) {
				r.Differences = append(r.Differences, Difference{row.TopUpID, row.SessionID, what})
			}
		}
		after = last
	}
}

func (r *Reconciled) count(row query.TopUp) {
	r.TopUps++
	if row.PaidAt != 0 {
		r.PaidCents += row.AmountCents
	}
	r.RefundedCents += row.RefundedCents
	r.DisputedCents += row.DisputedCents
}

// differences describes how a row differs from its page and from the ledger.
func differences(row query.TopUp, s State, known bool, has query.AuditTopUpEntriesRow) (all []string) {
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	paid := int64(0)
	if row.PaidAt != 0 {
		paid = row.AmountCents
	}
	if has.Paid != paid || has.Refunded != row.RefundedCents || has.Disputed != row.DisputedCents {
		add("it says %d cents paid, %d refunded and %d disputed, the ledger %d, %d and %d", paid, row.RefundedCents, row.DisputedCents, has.Paid, has.Refunded, has.Disputed)
	}
	switch why := strange(row, s); {
	case !known && row.SessionID != "":
		add("the provider has no page of it")
		return all
	case !known:
		return all // its page was never made
	case row.SessionID != s.SessionID && row.SessionID != "":
		add("the provider has another page of it, %s", s.SessionID)
	case why != "":
		add("%s", why)
	}
	collected := s.Phase == Collected
	if collected != (row.PaidAt != 0) {
		add("the provider has it %s, the service %s", s.Phase, row.Status)
	} else if !collected && s.Phase != Waiting && (Status(row.Status) == Open || Status(row.Status) == Created) {
		add("the provider has it %s, the service %s", s.Phase, row.Status)
	}
	if !collected || row.PaidAt == 0 {
		return all
	}
	refunded, disputed := owing(row, s)
	if refunded != row.RefundedCents || disputed != row.DisputedCents {
		add("the provider took back %d cents by refunds and %d by disputes, the service %d and %d", refunded, disputed, row.RefundedCents, row.DisputedCents)
	}
	return all
}

// owing is what the provider has taken back of a top-up, without tax, refunds first.
func owing(row query.TopUp, s State) (refunded, disputed int64) {
	refunded = share(row, s, s.RefundedCents)
	for _, d := range s.Disputes {
		if d.Taken && !d.Won {
			disputed += share(row, s, d.Cents)
		}
	}
	return refunded, min(disputed, row.AmountCents-refunded)
}

// String describes the state of a page.
func (p Phase) String() string {
	return map[Phase]string{Waiting: "waiting", Collected: "paid", Refused: "failed", Ended: "expired"}[p]
}
