package idempotency

import (
	"context"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
)

// Audit reports keys and answers that are not as they were written, and holds that would
// keep a key for longer than any request takes. An error means that the audit did not
// finish.
func Audit(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) error {
	return keyRows.Audit(ctx, tx, breach, func(r query.Idempotency) error {
		if r.LapsesAt <= 0 || r.LapsesAt > tx.Now+longestHold.Microseconds() {
			breach("a hold of an idempotency key ends soon", r.WorkspaceID+" "+r.Route, "it ends at %s", db.Time(r.LapsesAt).Format(time.RFC3339))
		}
		return nil
	})
}

// longestHold is far longer than holdLife: a clock may have been wrong when a hold was
// written.
const longestHold = 24 * time.Hour
