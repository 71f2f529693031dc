package wallet

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
)

// Spent is what a workspace paid in a month (UTC) for the jobs of one key, person and set of
// tags, and what was refunded in it. The ledger is added up for it each time. Each entry counts
// in one of them, so their sums are the ledger's.
type Spent struct {
	Month         string // such as 2026-11
	KeyID         string // "" for jobs that people started in the browser
	KeyName       string
	PersonID      string // who started them, or made the key; "" where nobody is recorded
	Email         string
	Tags          string // in order, with commas between them
	ChargedCents  int64
	RefundedCents int64
}

// Cents is what was spent: below zero in a month with more refunds than charges.
func (s Spent) Cents() int64 { return s.ChargedCents - s.RefundedCents }

// TagList are the tags; never nil.
func (s Spent) TagList() []string {
	return strings.FieldsFunc(s.Tags, func(r rune) bool { return r == ',' })
}

// Of adds rows up that have the same name, in the order in which the names come first.
func Of(all []Spent, name func(Spent) string) (sums []Sum) {
	at := map[string]int{}
	for _, s := range all {
		n := name(s)
		i, known := at[n]
		if !known {
			i = len(sums)
			at[n], sums = i, append(sums, Sum{Name: n})
		}
		sums[i].ChargedCents, sums[i].RefundedCents = sums[i].ChargedCents+s.ChargedCents, sums[i].RefundedCents+s.RefundedCents
	}
	return sums
}

// Sum is what was spent under a name.
type Sum struct {
	Name                        string
	ChargedCents, RefundedCents int64
}

// Cents is as Spent.Cents.
func (s Sum) Cents() int64 { return s.ChargedCents - s.RefundedCents }

// Division is a way to divide what was spent.
type Division string

// The divisions. A job with several tags counts once, under all of them together.
const (
	ByMonth  Division = "month"
	ByPerson Division = "person"
	ByKey    Division = "key"
	ByTags   Division = "tags"
)

// Part is what was spent in a month, by a person, with a key or for a set of tags.
type Part struct {
	ID  string // the month, the person's or the key's id, or the tags with commas; "" for none
	Row Spent  // one of its rows, with the names of the person and of the key
	Sum
}

// Divide adds rows up: months as they come, otherwise the part that paid most first.
func Divide(all []Spent, by Division) []Part {
	id := func(s Spent) string {
		switch by {
		case ByPerson:
			if s.Email == "" { // erased
				return ""
			}
			return s.PersonID
		case ByKey:
			return s.KeyID
		case ByTags:
			return s.Tags
		}
		return s.Month
	}
	sums := Of(all, id)
	parts := make([]Part, len(sums))
	for i, sum := range sums {
		row := all[slices.IndexFunc(all, func(s Spent) bool { return id(s) == sum.Name })]
		parts[i] = Part{sum.Name, row, sum}
	}
	if by != ByMonth {
		slices.SortStableFunc(parts, func(a, b Part) int { return cmp.Compare(b.Cents(), a.Cents()) })
	}
	return parts
}

// Spend adds up what a workspace spent since a time, and before another unless that is zero:
// the newest month first and in it the row that paid most.
func Spend(ctx context.Context, tx *db.Tx, workspaceID string, since, until time.Time) ([]Spent, error) {
	before := int64(math.MaxInt64)
	if !until.IsZero() {
		before = db.Micros(until)
	}
	rows, err := tx.Spend(ctx, query.SpendParams{WorkspaceID: workspaceID, Since: db.Micros(since), Until: before})
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
