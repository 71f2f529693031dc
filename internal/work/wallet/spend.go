package wallet

import (
	"context"
	"fmt"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
)

// Spent is what a workspace paid for the jobs of one key in a month (UTC), and what was
// refunded in it. The ledger is added up for it each time.
type Spent struct {
	Month         string // such as 2026-11
	KeyID         string // "" for jobs that people started in the browser
	KeyName       string
	ChargedCents  int64
	RefundedCents int64
}

// Cents is what was spent: below zero in a month with more refunds than charges.
func (s Spent) Cents() int64 { return s.ChargedCents - s.RefundedCents }

// Spend adds up what a workspace spent since a time, the newest month first and in it the
// key that paid most.
func Spend(ctx context.Context, tx *db.Tx, workspaceID string, since time.Time) ([]Spent, error) {
	rows, err := tx.Spend(ctx, query.SpendParams{WorkspaceID: workspaceID, Since: db.Micros(since)})
	if err != nil {
		return nil, fmt.Errorf("add up what was spent: %w", err)
	}
	all := make([]Spent, 0, len(rows))
	for _, r := range rows {
		all = append(all, Spent(r))
	}
	return all, nil
}

// FirstOfMonth is the beginning of the month (UTC) of a time, or of one so many months before.
func FirstOfMonth(t time.Time, before int) time.Time {
	t = t.UTC()
	return time.Date(t.Year(), t.Month()-time.Month(before), 1, 0, 0, 0, 0, time.UTC)
}

// Months lists the last months (UTC), this one included, the oldest first.
func Months(now time.Time, months int) (all []string) {
	for before := months - 1; before >= 0; before-- {
		all = append(all, FirstOfMonth(now, before).Format("2006-01"))
	}
	return all
}
