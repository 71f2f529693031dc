package console

import (
	"context"
	"encoding/csv"
	"net/http"
	"slices"
	"time"

	"svc.example/internal/door/web/page"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/plaintext"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/wallet"
)

// spendMonths is how many months the wallet's page shows; the CSV has all.
const spendMonths = 12

// spendView is what a workspace spent by month, and by key in one of them.
type spendView struct {
	Chart  *page.Columns  // nil where nothing was spent
	Months []wallet.Spent // those with charges or refunds, the newest first
	Month  string         // the one whose keys are listed
	Keys   []wallet.Spent
}

// readSpend adds up the ledger. The keys are those of the month that the query names, or of
// the newest.
func readSpend(ctx context.Context, tx *db.Tx, workspaceID, named string) (spendView, error) {
	all, err := wallet.Spend(ctx, tx, workspaceID, wallet.FirstOfMonth(tx.Time(), spendMonths-1))
	if err != nil || len(all) == 0 {
		return spendView{}, err
	}
	v := spendView{Month: all[0].Month}
	if slices.ContainsFunc(all, func(s wallet.Spent) bool { return s.Month == named }) {
		v.Month = named
	}
	for _, s := range all {
		if n := len(v.Months); n == 0 || v.Months[n-1].Month != s.Month {
			v.Months = append(v.Months, wallet.Spent{Month: s.Month})
		}
		sum := &v.Months[len(v.Months)-1]
		sum.ChargedCents, sum.RefundedCents = sum.ChargedCents+s.ChargedCents, sum.RefundedCents+s.RefundedCents
		if s.Month == v.Month {
			v.Keys = append(v.Keys, s)
		}
	}
	months := wallet.Months(tx.Time(), spendMonths)
	cents := make([]int64, len(months))
	for _, sum := range v.Months {
		if at := slices.Index(months, sum.Month); at >= 0 {
			cents[at] = sum.Cents()
		}
	}
	v.Chart = page.DrawMonths("Spent", months, cents)
	return v, nil
}

// spendFile serves what was spent by month and key as CSV, of all time. Amounts have signs:
// a charge is below zero, a refund above.
func (s *Site) spendFile(w http.ResponseWriter, r *http.Request, who identity.Principal) error {
	var all []wallet.Spent
	err := s.DB.Read(r.Context(), func(tx *db.Tx) (err error) {
		all, err = wallet.Spend(r.Context(), tx, who.WorkspaceID, time.Time{})
		return err
	})
	if err != nil {
		return err
	}
	page.StartCSV(w, "spend.csv")
	out := csv.NewWriter(w)
	_ = out.Write([]string{"month", "key_id", "key_name", "currency", "charged", "refunded", "amount"})
	for _, s := range all {
		_ = out.Write([]string{s.Month, s.KeyID, plaintext.Cell(s.KeyName), contract.Currency, wallet.Decimal(-s.ChargedCents), wallet.Decimal(s.RefundedCents), wallet.Decimal(-s.Cents())})
	}
	out.Flush() // a reader that leaves gets no error
	return nil
}
