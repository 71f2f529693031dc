package intake

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/digest"
	"svc.example/internal/ground/id"
	"svc.example/internal/work/quote"
)

// clockSlack is how far a time may lie ahead of the audit's: the machine's clock may be set
// back. An hour, in microseconds.
const clockSlack = 3_600_000_000

// Audit reads every upload and every awaited one, page by page, and reports those that
// differ from their project, their first quote or their workspace. An error means that the
// audit did not finish.
func Audit(ctx context.Context, tx *db.Tx, book contract.Book, breach func(rule, subject, format string, args ...any)) error {
	for after := ""; ; {
		rows, err := tx.AuditUploads(ctx, after)
		if err != nil {
			return fmt.Errorf("audit uploads: %w", err)
		}
		if len(rows) == 0 {
			break
		}
		for _, r := range rows {
			uploadRows.Check(r.Upload, breach)
			if why := strangeUpload(r, tx.Now); why != "" {
				breach("an upload is what was received", r.Upload.UploadID, "%s", why)
			}
		}
		after = rows[len(rows)-1].Upload.UploadID
	}
	for after := ""; ; {
		rows, err := tx.AuditAwaited(ctx, after)
		if err != nil {
			return fmt.Errorf("audit awaited uploads: %w", err)
		}
		if len(rows) == 0 {
			return nil
		}
		for _, r := range rows {
			awaitedRows.Check(r.AwaitedUpload, breach)
			if why := strangeAwaited(r, book); why != "" {
				breach("an awaited upload is what was announced", r.AwaitedUpload.UploadID, "%s", why)
			}
		}
		after = rows[len(rows)-1].AwaitedUpload.UploadID
	}
}

// strangeUpload says how an upload contradicts what Quote stores; "" if it does not.
// Its project and its first quote are of the same transaction.
func strangeUpload(r query.AuditUploadsRow, now int64) string {
	u := r.Upload
	var scene quote.Scene
	switch {
	case !id.Valid(id.Upload, u.UploadID) || r.Owner == "":
		return fmt.Sprintf("its id has another form, or there is no workspace %q", u.WorkspaceID)
	case r.QuoteWorkspaceID != "" && r.QuoteWorkspaceID != u.WorkspaceID, r.ProjectCreatedAt != 0 && r.ProjectWorkspaceID != u.WorkspaceID:
		return fmt.Sprintf("it belongs to %q, its project to %q, its quotes to %q", u.WorkspaceID, r.ProjectWorkspaceID, r.QuoteWorkspaceID)
	case r.QuotedAt != 0 && r.QuotedAt != u.CreatedAt, r.ProjectCreatedAt != 0 && r.ProjectCreatedAt != u.CreatedAt:
		return fmt.Sprintf("it is of %d, its project of %d, its first quote of %d", u.CreatedAt, r.ProjectCreatedAt, r.QuotedAt)
	case !digest.Is(u.Sha256) || u.SizeBytes < 1 || u.Filename == "":
		return fmt.Sprintf("%q of %d bytes with the hash %q", u.Filename, u.SizeBytes, u.Sha256)
	case u.RemovedAt != 0 && (u.RemovedAt < u.CreatedAt || u.RemovedAt > now+clockSlack):
		return fmt.Sprintf("it is of %d, and was removed at %d", u.CreatedAt, u.RemovedAt)
	case json.Unmarshal([]byte(u.Scene), &scene) != nil:
		return "its scene cannot be read"
	}
	return ""
}

// strangeAwaited says how an awaited upload contradicts what Await makes; "" if it does
// not.
func strangeAwaited(r query.AuditAwaitedRow, book contract.Book) string {
	a := r.AwaitedUpload
	terms, published := book.OfLink(a.TermsVersion)
	life := time.Duration(a.ExpiresAt-a.CreatedAt) * time.Microsecond
	switch {
	case !id.Valid(id.Upload, a.UploadID) || r.Owner == "":
		return fmt.Sprintf("its id has another form, or there is no workspace %q", a.WorkspaceID)
	case r.UploadWorkspaceID != "" && r.UploadWorkspaceID != a.WorkspaceID:
		return fmt.Sprintf("it belongs to %q, its upload to %q", a.WorkspaceID, r.UploadWorkspaceID)
	case !published:
		return fmt.Sprintf("its terms %q were never published", a.TermsVersion)
	case life != terms.UploadLinkLife:
		return fmt.Sprintf("its link lives for %s; by its terms %q it lives for %s", life, terms.Version, terms.UploadLinkLife)
	case a.Source != "" && !strings.Contains(a.Source, "://"):
		return fmt.Sprintf("its source is %q", a.Source)
	case (a.FaultCode == "") != (a.FaultText == "") || (a.FaultCode == "" && (a.FaultAction != "" || a.FaultDetail != "null")) || !json.Valid([]byte(a.FaultDetail)):
		return fmt.Sprintf("its fault is %q: %q, %q, %q", a.FaultCode, a.FaultText, a.FaultAction, a.FaultDetail)
	}
	return ""
}
