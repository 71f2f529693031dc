package admin

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"svc.example/internal/door/api/operation"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/operator"
	"svc.example/internal/work/payment"
	"svc.example/internal/work/testmode"
)

// reconciledDays is how many days are compared at once at most: the provider lists its pages in
// many requests.
const reconciledDays = 92

// reconcileInput names days.
type reconcileInput struct {
	From string `query:"from" format:"date" doc:"First day (UTC). Without it, 30 days before to."`
	To   string `query:"to" format:"date" doc:"Day after the last one. Without it, now. At most 92 days after from."`
}

// span reads the days. Error: invalid_request.
func (in *reconcileInput) span(now time.Time) (since, until time.Time, err error) {
	until = now
	if in.To != "" {
		if until, err = time.Parse(time.DateOnly, in.To); err != nil {
			return since, until, fault.Field("query.to", "is not a date such as 2026-01-31")
		}
	}
	since = until.AddDate(0, 0, -30)
	if in.From != "" {
		if since, err = time.Parse(time.DateOnly, in.From); err != nil {
			return since, until, fault.Field("query.from", "is not a date such as 2026-01-31")
		}
	}
	if !since.Before(until) || since.Before(until.AddDate(0, 0, -reconciledDays)) {
		err = fault.Field("query.from", "must be 1 to %d days before to", reconciledDays)
	}
	return since, until, err
}

// Reconciliation is what a comparison with the payment provider found.
type Reconciliation struct {
	OK   bool      `json:"ok" doc:"False if there are differences."`
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	payment.Reconciled
}

// checks are the routes that look for what is wrong. None of them changes anything.
func (s *Server) checks() []route {
	e := exampleChecks()
	return []route{
		reads(s, route{id: "getLastAudit", path: "/admin/v1/audit", summary: "Show what the last audit of the store found"}, e.audit,
			func(ctx context.Context, tx *db.Tx, _ *none) (operator.LastAudited, error) {
				return operator.LastAuditOf(ctx, tx)
			}),
		s.reconciliation(e.reconciliation),
		s.testWorlds(e.worlds),
	}
}

// reconciliation is the route that asks the payment provider.
func (s *Server) reconciliation(answer Reconciliation) route {
	r := route{
		id: "reconcile", method: http.MethodGet, path: "/admin/v1/reconciliation", summary: "Compare the payment provider's payments with the store", scope: identity.OperatorReads,
		codes: []fault.Code{fault.PaymentsUnavailable}, answer: answer,
	}
	r.register = func(api huma.API, op huma.Operation) {
		huma.Register(api, op, func(ctx context.Context, in *reconcileInput) (*operation.Private[Reconciliation], error) {
			since, until, err := in.span(time.Now())
			if err != nil {
				return nil, err
			}
			found, err := s.Reconcile(ctx, since, until)
			found.Differences = append([]payment.Difference{}, found.Differences...)
			return operation.NoStore(Reconciliation{len(found.Differences) == 0, since.UTC().Truncate(time.Second), until.UTC().Truncate(time.Second), found}, err)
		})
	}
	return r
}

// testWorlds is the route that lists and measures test worlds. They are measured outside of the
// transaction, because files are counted.
func (s *Server) testWorlds(answer operator.TestWorldList) route {
	r := route{id: "listTestWorlds", method: http.MethodGet, path: "/admin/v1/test-worlds", summary: "List the test worlds of workspaces", scope: identity.OperatorReads, answer: answer}
	r.register = func(api huma.API, op huma.Operation) {
		huma.Register(api, op, func(ctx context.Context, _ *none) (*operation.Private[operator.TestWorldList], error) {
			var worlds []testmode.World
			err := s.DB.Read(ctx, func(tx *db.Tx) (err error) {
				worlds, err = testmode.Worlds(ctx, tx)
				return err
			})
			if err != nil {
				return nil, err
			}
			return operation.NoStore(operator.TestWorldsList(ctx, worlds, s.WorldSize))
		})
	}
	return r
}
