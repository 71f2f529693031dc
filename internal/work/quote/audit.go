package quote

import (
	"context"
	"encoding/json"
	"fmt"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/id"
)

// Audit reads every quote, page by page, and reports those whose price, frames or times are
// not what Lock writes, or that differ from their upload or the job that accepted them. An
// error means that the audit did not finish.
func Audit(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) error {
	for after := ""; ; {
		rows, err := tx.AuditQuotes(ctx, after)
		if err != nil {
			return fmt.Errorf("audit quotes: %w", err)
		}
		if len(rows) == 0 {
			return nil
		}
		for _, r := range rows {
			quoteRows.Check(r.Quote, breach)
			if why := strange(r); why != "" {
				breach("a quote is what was locked", r.Quote.QuoteID, "%s", why)
			}
		}
		after = rows[len(rows)-1].Quote.QuoteID
	}
}

// strange says in what a quote is not one that Lock writes; "" in nothing.
func strange(r query.AuditQuotesRow) string {
	q := r.Quote
	switch {
	case !id.Valid(id.Quote, q.QuoteID):
		return "its id has another form"
	case q.WorkspaceID == "" || r.UploadWorkspaceID != q.WorkspaceID:
		return fmt.Sprintf("it belongs to %q, its upload %q to %q", q.WorkspaceID, q.UploadID, r.UploadWorkspaceID)
	case q.RerenderOf != "" && (r.FirstUploadID != q.UploadID || r.FirstWorkspaceID != q.WorkspaceID):
		return fmt.Sprintf("it renders frames of %q again, which is of upload %q and workspace %q", q.RerenderOf, r.FirstUploadID, r.FirstWorkspaceID)
	case q.PriceCents != q.FrameCount*contract.CentsPerFrame || q.PricingVersion != contract.PricingVersion:
		return fmt.Sprintf("%d frames cost %d cents by %q", q.FrameCount, q.PriceCents, q.PricingVersion)
	case q.Qualified != 0 && q.Qualified != 1:
		return fmt.Sprintf("qualified is %d", q.Qualified)
	case q.ExpiresAt != q.CreatedAt+contract.QuoteLifetime.Microseconds() || q.CreatedAt < r.UploadedAt:
		return fmt.Sprintf("of %d to %d, its upload is of %d", q.CreatedAt, q.ExpiresAt, r.UploadedAt)
	case q.JobID != r.TakenBy || (q.AcceptedAt == 0) != (q.JobID == ""):
		return fmt.Sprintf("accepted at %d by %q, job %q has it", q.AcceptedAt, q.JobID, r.TakenBy)
	}
	if _, err := ListOf(q.FrameStart, q.FrameEnd, q.FrameStep, q.FrameCount, q.Frames); err != nil {
		return err.Error()
	}
	var warnings []Warning
	if err := json.Unmarshal([]byte(q.Warnings), &warnings); err != nil {
		return fmt.Sprintf("its warnings cannot be read: %v", err)
	}
	return ""
}
