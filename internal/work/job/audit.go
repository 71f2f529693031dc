package job

import (
	"context"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
)

// Audit reports jobs whose money is not settled as their state says, completed jobs
// without their one receipt, and jobs that no lease will ever move on. It returns the
// number of jobs. It reads every job in one transaction. An error means that the audit
// did not finish.
func Audit(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) (jobs int, err error) {
	rows, err := tx.AuditJobMoney(ctx)
	if err != nil {
		return 0, fmt.Errorf("audit the money of jobs: %w", err)
	}
	for _, r := range rows {
		if !settled(r) {
			breach("a job's money is settled once", r.JobID, "%s at %d cents: reserved %d, captured %d, released %d, charged %d",
				r.Status, r.PriceCents, r.Reserved, r.Captured, r.Released, r.ChargedCents)
		}
	}
	receipts, err := tx.AuditReceipts(ctx)
	if err != nil {
		return 0, fmt.Errorf("audit the receipts of jobs: %w", err)
	}
	for _, r := range receipts {
		breach("completed means one receipt", r.JobID, "%s with %d receipts", r.Status, r.Receipts)
	}
	return len(rows), auditLeases(ctx, tx, breach)
}

// settled reports whether a job that ended captured or released exactly what it
// reserved, and one that goes on did neither.
func settled(m query.AuditJobMoneyRow) bool {
	var captured, released int64
	switch Status(m.Status) {
	case Completed:
		captured = m.PriceCents
	case Failed, Cancelled:
		released = m.PriceCents
	}
	return m.Reserved == m.PriceCents && m.Captured == captured && m.Released == released && m.ChargedCents == captured
}

// auditLeases reports jobs whose next step is on no queue: they would wait forever.
func auditLeases(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) error {
	packaging, err := tx.AuditPackaging(ctx)
	if err != nil {
		return fmt.Errorf("audit jobs in packaging: %w", err)
	}
	for _, jobID := range packaging {
		breach("a job in packaging is packed", jobID, "no lease of queue %s", PackageQueue)
	}
	awaiting, err := tx.AuditAwaiting(ctx)
	if err != nil {
		return fmt.Errorf("audit jobs that await their submit: %w", err)
	}
	for _, jobID := range awaiting {
		breach("a job waits for its submit for a day at most", jobID, "no lease ends the wait")
	}
	return nil
}
