package console

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"svc.example/internal/door/web/page"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/sheet"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/wallet"
)

// spendMonths is how many months the wallet's page shows; the CSV has all.
const spendMonths = 12

// spendView is what a workspace spent by month, and by person, key and tags in one of them.
type spendView struct {
	Chart  *page.Columns // nil where nothing was spent
	Months []wallet.Sum  // those with charges or refunds, the newest first
	Month  string        // the one whose parts are listed
	Parts  []spendPart
}

// spendPart is one way to divide the month.
type spendPart struct {
	Title, Column string
	Sums          []wallet.Sum
}

// readSpend adds up the ledger. The parts are those of the month that the query names, or of
// the newest.
func readSpend(ctx context.Context, tx *db.Tx, workspaceID, named string) (spendView, error) {
	all, err := wallet.Spend(ctx, tx, workspaceID, wallet.FirstOfMonth(tx.Time(), spendMonths-1), time.Time{})
	if err != nil || len(all) == 0 {
		return spendView{}, err
	}
	v := spendView{Month: all[0].Month}
	if slices.ContainsFunc(all, func(s wallet.Spent) bool { return s.Month == named }) {
		v.Month = named
	}
	v.Months = wallet.Of(all, func(s wallet.Spent) string { return s.Month })
	of := slices.DeleteFunc(all, func(s wallet.Spent) bool { return s.Month != v.Month })
	v.Parts = []spendPart{
		{"By person", "Person", wallet.Of(of, func(s wallet.Spent) string { return cmp.Or(s.Email, "not recorded") })},
		{"By key", "Key", wallet.Of(of, func(s wallet.Spent) string { return cmp.Or(s.KeyName, s.KeyID, "In the browser") })},
		{"By tags", "Tags", wallet.Of(of, func(s wallet.Spent) string { return cmp.Or(strings.ReplaceAll(s.Tags, ",", ", "), "without tags") })},
	}
	months := wallet.Months(tx.Time(), spendMonths)
	cents := make([]int64, len(months))
	for _, sum := range v.Months {
		if at := slices.Index(months, sum.Name); at >= 0 {
			cents[at] = sum.Cents()
		}
	}
	v.Chart = page.DrawMonths("Spent", months, cents)
	return v, nil
}

// spendFile serves what was spent by month, key, person and tags as CSV, of all time. Amounts have signs:
// a charge is below zero, a refund above.
func (s *Site) spendFile(w http.ResponseWriter, r *http.Request, who identity.Principal) error {
	var all []wallet.Spent
	err := s.DB.Read(r.Context(), func(tx *db.Tx) (err error) {
		all, err = wallet.Spend(r.Context(), tx, who.WorkspaceID, time.Time{}, time.Time{})
		return err
	})
	if err != nil {
		return err
	}
	out, err := page.StartCSV(w, r, "spend.csv")
	if err != nil {
		return err
	}
	out.Row("month", "key_id", "key_name", "currency", "charged", "refunded", "amount", "person", "tags")
	for _, s := range all {
		out.Row(s.Month, s.KeyID, s.KeyName, contract.Currency, sheet.Amount(-s.ChargedCents), sheet.Amount(s.RefundedCents), sheet.Amount(-s.Cents()), s.Email, s.Tags)
	}
	_ = out.Flush() // a reader that leaves gets no error
	return nil
}
