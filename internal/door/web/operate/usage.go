package operate

import (
	"net/http"
	"slices"

	"svc.example/internal/door/web/page"
	"svc.example/internal/ground/db"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/operator"
	"svc.example/internal/work/wallet"
)

// shownMonths is how many months the page of the usage has; its CSV has as many.
const shownMonths = 12

// usageView is the content of the page of the usage.
type usageView struct {
	adminView
	// Chart has what was charged in each month.
	Chart *page.Columns
	Sums  []monthSum // the newest first
	// Month is the one whose workspaces are listed.
	Month      string
	Workspaces []operator.Usage
	ByTags     bool              // they are split by the tags of jobs
	Names      map[string]string // of Workspaces, by id
	// Left is how many workspaces of the month are left out: those that paid least.
	Left int
}

// monthSum is what all workspaces used in a month.
type monthSum struct {
	operator.Usage
	Here bool
}

// RenderHours is the time of workers, in hours.
func (s monthSum) RenderHours() float64 { return s.RenderSeconds / 3600 }

// adminUsage shows what workspaces used: a chart of months, and the workspaces of one.
func (s *Site) adminUsage(r *http.Request, _ identity.Principal) (page.Page, error) {
	v := usageView{adminView: viewOf(r, adminUsagePath), ByTags: byTags(r)}
	err := s.DB.Read(r.Context(), func(tx *db.Tx) (err error) {
		v.Sums, v.Workspaces = nil, nil // it may run again
		now := tx.Time()
		var all []operator.Usage
		if all, err = operator.UsageOf(r.Context(), tx, operator.UsageScope{Months: shownMonths, ByTags: v.ByTags}); err != nil {
			return err
		}
		v.fill(all, wallet.Months(now, shownMonths), r.URL.Query().Get("month"))
		ids := make([]string, 0, len(v.Workspaces))
		for _, u := range v.Workspaces {
			ids = append(ids, u.WorkspaceID)
		}
		v.Names, err = identity.Names(r.Context(), tx, ids)
		return err
	})
	return page.Page{Template: "admin_usage", Title: "Usage", Content: v}, err
}

// byTags reports whether a request asks for usage that is split by tags.
func byTags(r *http.Request) bool { return r.URL.Query().Get("tags") == "true" }

// fill adds up months and chooses the one whose workspaces are listed: the newest, unless another
// one is named.
func (v *usageView) fill(all []operator.Usage, months []string, named string) {
	slices.Reverse(months)
	v.Month = months[0]
	if slices.Contains(months, named) {
		v.Month = named
	}
	for _, month := range months {
		sum := monthSum{operator.Usage{Month: month}, month == v.Month}
		for _, u := range all {
			if u.Month != month {
				continue
			}
			sum.Jobs, sum.Frames, sum.RenderSeconds = sum.Jobs+u.Jobs, sum.Frames+u.Frames, sum.RenderSeconds+u.RenderSeconds
			sum.ChargedCents, sum.RefundedCents = sum.ChargedCents+u.ChargedCents, sum.RefundedCents+u.RefundedCents
			if sum.Here {
				v.Workspaces = append(v.Workspaces, u)
			}
		}
		v.Sums = append(v.Sums, sum)
	}
	v.Left = max(0, len(v.Workspaces)-adminRows)
	v.Workspaces = v.Workspaces[:len(v.Workspaces)-v.Left]
	cents := make([]int64, 0, len(v.Sums))
	for _, sum := range slices.Backward(v.Sums) {
		cents = append(cents, sum.ChargedCents)
	}
	slices.Reverse(months)
	v.Chart = page.DrawMonths("Charged", months, cents)
}

// usageFile sends the usage as CSV; the months are those of the page.
func (s *Site) usageFile(w http.ResponseWriter, r *http.Request, who identity.Principal) error {
	if _, err := operator.Person(who); err != nil {
		return err
	}
	var all []operator.Usage
	err := s.DB.Read(r.Context(), func(tx *db.Tx) (err error) {
		all, err = operator.UsageOf(r.Context(), tx, operator.UsageScope{WorkspaceID: r.URL.Query().Get("workspace"), Months: shownMonths, ByTags: byTags(r)})
		return err
	})
	if err != nil {
		return err
	}
	out, err := page.StartCSV(w, r, "usage.csv")
	if err != nil {
		return err
	}
	_ = operator.WriteUsage(out, all) // a reader that leaves gets no error
	return nil
}
