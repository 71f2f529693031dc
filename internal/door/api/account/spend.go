package account

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"svc.example/internal/door/api/operation"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/wallet"
)

const (
	spendMonths   = 12  // without a month, this one included
	mostSpendRows = 500 // in an answer
)

// spendInput divides what the workspace spent.
type spendInput struct {
	By    wallet.Division `query:"by" enum:"month,person,key,tags" default:"month" doc:"What the rows are. A job with several tags counts once, under all of them together."`
	Month string          `query:"month" pattern:"^[0-9]{4}-[0-9]{2}$" doc:"Only this month (UTC), such as 2026-11; the last 12 when absent."`
}

// spendRow is what was spent in a month, by a person, with a key or for a set of tags.
type spendRow struct {
	Month         *string         `json:"month,omitempty" doc:"By month: which."`
	StartedBy     *identity.Actor `json:"started_by,omitempty" doc:"By person: the person, with what their keys started. By key: the key; absent for the browser."`
	Tags          []string        `json:"tags,omitempty" doc:"By tags: which; absent for jobs without."`
	ChargedCents  int64           `json:"charged_cents" minimum:"0" doc:"For jobs that completed."`
	RefundedCents int64           `json:"refunded_cents" minimum:"0"`
	SpentCents    int64           `json:"spent_cents" doc:"The difference: below zero with more refunds than charges."`
}

type spendOutput struct {
	Body struct {
		OK            bool       `json:"ok" const:"true"`
		ChargedCents  int64      `json:"charged_cents" minimum:"0" doc:"In all rows, those that are left out too."`
		RefundedCents int64      `json:"refunded_cents" minimum:"0"`
		SpentCents    int64      `json:"spent_cents"`
		Currency      string     `json:"currency" const:"USD"`
		Rows          []spendRow `json:"rows" nullable:"false" maxItems:"500" doc:"Months newest first, otherwise the row that spent most first."`
		RowsLeftOut   int        `json:"rows_left_out" minimum:"0" doc:"How many more there are."`
	}
}

// spend registers the route that divides what was spent.
func (s *Server) spend(api huma.API) {
	op := s.ofMoney("getSpend", http.MethodGet, "/v1/wallet/spend", "What jobs cost, by month, person, key or tags")
	op.Description = "The ledger, added up. A charge belongs to the month in which its job completed, a refund to the month in which it was made."
	huma.Register(api, op, s.getSpend)
}

func (s *Server) getSpend(ctx context.Context, in *spendInput) (*spendOutput, error) {
	var from, until time.Time
	if in.Month != "" {
		var err error
		if from, err = time.Parse("2006-01", in.Month); err != nil {
			return nil, fault.Field("query.month", "must be a month such as 2026-11")
		}
		until = from.AddDate(0, 1, 0)
	}
	var all []wallet.Spent
	err := s.DB.Read(ctx, func(tx *db.Tx) (err error) {
		if in.Month == "" {
			from = wallet.FirstOfMonth(tx.Time(), spendMonths-1)
		}
		all, err = wallet.Spend(ctx, tx, operation.Caller(ctx).WorkspaceID, from, until)
		return err
	})
	out := &spendOutput{}
	out.Body.OK, out.Body.Currency, out.Body.Rows = true, contract.Currency, []spendRow{}
	for i, part := range wallet.Divide(all, in.By) {
		out.Body.ChargedCents += part.ChargedCents
		out.Body.RefundedCents += part.RefundedCents
		if i < mostSpendRows {
			out.Body.Rows = append(out.Body.Rows, shownPart(in.By, part))
		} else {
			out.Body.RowsLeftOut++
		}
	}
	out.Body.SpentCents = out.Body.ChargedCents - out.Body.RefundedCents
	return out, err
}

// shownPart is a part as the API shows it. Programs see addresses shortened.
func shownPart(by wallet.Division, p wallet.Part) spendRow {
	row := spendRow{ChargedCents: p.ChargedCents, RefundedCents: p.RefundedCents, SpentCents: p.Cents()}
	switch {
	case by == wallet.ByMonth:
		row.Month = &p.ID
	case by == wallet.ByTags:
		row.Tags = p.Row.TagList()
	case by == wallet.ByPerson:
		row.StartedBy = identity.ActorOf(p.ID, p.Row.Email, "", "")
	case p.ID != "":
		row.StartedBy = identity.ActorOf(p.Row.PersonID, p.Row.Email, p.ID, p.Row.KeyName)
	}
	return row
}
