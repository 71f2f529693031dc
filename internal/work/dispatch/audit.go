package dispatch

import (
	"context"
	"fmt"

	"svc.example/internal/ground/db"
)

// Audit reports turns whose counter differs from the number of waiting leases. A counter
// that is too low hides frames from every worker.
func Audit(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) error {
	rows, err := tx.AuditTurns(ctx)
	if err != nil {
		return fmt.Errorf("audit turns: %w", err)
	}
	for _, r := range rows {
		breach("a job's turn says what waits", r.Party, "the counter is %d, %d leases wait", r.Waiting, r.Leases)
	}
	return nil
}
