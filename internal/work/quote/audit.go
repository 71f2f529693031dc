package quote

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/id"
	"svc.example/internal/render/settings"
)

// Audit reads every quote, page by page, and reports those whose price, frames or times are
// not what Lock writes under their own version of the terms, or that differ from their upload or the job that accepted them. An
// error means that the audit did not finish.
func Audit(ctx context.Context, tx *db.Tx, book contract.Book, breach func(rule, subject, format string, args ...any)) error {
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
			if why := strange(r, book); why != "" {
				breach("a quote is what was locked", r.Quote.QuoteID, "%s", why)
			}
		}
		after = rows[len(rows)-1].Quote.QuoteID
	}
}

// strange says how a quote contradicts what Lock writes; "" if it does not.
func strange(r query.AuditQuotesRow, book contract.Book) string {
	q := r.Quote
	switch {
	case !id.Valid(id.Quote, q.QuoteID):
		return "its id has another form"
	case q.WorkspaceID == "" || r.UploadWorkspaceID != q.WorkspaceID:
		return fmt.Sprintf("it belongs to %q, its upload %q to %q", q.WorkspaceID, q.UploadID, r.UploadWorkspaceID)
	case q.RerenderOf != "" && (r.FirstUploadID != q.UploadID || r.FirstWorkspaceID != q.WorkspaceID):
		return fmt.Sprintf("it renders frames of %q again, which is of upload %q and workspace %q", q.RerenderOf, r.FirstUploadID, r.FirstWorkspaceID)
	case q.Qualified != 0 && q.Qualified != 1:
		return fmt.Sprintf("qualified is %d", q.Qualified)
	case q.CreatedAt < r.UploadedAt:
		return fmt.Sprintf("it was created at %d, before its upload at %d", q.CreatedAt, r.UploadedAt)
	case q.JobID != r.TakenBy || (q.AcceptedAt == 0) != (q.JobID == ""):
		return fmt.Sprintf("accepted at %d by %q, job %q has it", q.AcceptedAt, q.JobID, r.TakenBy)
	}
	paid, err := Paid(q)
	if err != nil {
		return err.Error()
	}
	if why := UnlikeTerms(book, q.PricingVersion, paid, q.PriceCents-q.ReusedCents); why != "" {
		return why
	}
	if why := UnlikeTerms(book, q.PricingVersion, q.FrameCount, q.PriceCents); why != "" {
		return why
	}
	terms, _ := book.Of(q.PricingVersion)
	if life := time.Duration(q.ExpiresAt-q.CreatedAt) * time.Microsecond; life != terms.QuoteLifetime {
		return fmt.Sprintf("it is open for %s; by its terms %q it is open for %s", life, q.PricingVersion, terms.QuoteLifetime)
	}
	if _, err := ListOf(q.FrameStart, q.FrameEnd, q.FrameStep, q.FrameCount, q.Frames); err != nil {
		return err.Error()
	}
	if chosen, err := settings.Read(q.Settings); err != nil || chosen.Normal().Text() != q.Settings || chosen.Check() != nil {
		return fmt.Sprintf("its settings are %.300q", q.Settings)
	}
	if _, err := ReadScene(q.Scene); err != nil {
		return err.Error()
	}
	var warnings []Warning
	if err := json.Unmarshal([]byte(q.Warnings), &warnings); err != nil {
		return fmt.Sprintf("its warnings cannot be read: %v", err)
	}
	return ""
}

// UnlikeTerms says how a price differs from what its own version of the terms asks for the
// frames; "" if it does not.
func UnlikeTerms(book contract.Book, version string, frames, cents int64) string {
	terms, ok := book.Of(version)
	switch {
	case !ok:
		return fmt.Sprintf("its terms %q were never published", version)
	case cents != terms.Price(frames):
		return fmt.Sprintf("%d frames cost %d cents; by its terms %q they cost %d", frames, cents, version, terms.Price(frames))
	}
	return ""
}
