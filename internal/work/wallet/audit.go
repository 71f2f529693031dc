package wallet

import (
	"context"
	"fmt"

	"svc.example/internal/ground/db"
)

// Audit reports ledger transactions that do not balance and wallets that differ from
// the sum of their postings. It returns the number of wallets. Whether a job settled
// what it reserved is for the job package to check: the wallet knows no states of jobs.
// It reads the whole ledger in one transaction. An error means that the audit did not
// finish.
func Audit(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) (wallets int, err error) {
	unbalanced, err := tx.AuditUnbalanced(ctx)
	if err != nil {
		return 0, fmt.Errorf("audit the ledger: %w", err)
	}
	for _, t := range unbalanced {
		breach("ledger transactions balance", t.TransactionID, "%s: %d postings add up to %d", t.Kind, t.Postings, t.Total)
	}
	balances, err := tx.AuditBalances(ctx)
	if err != nil {
		return 0, fmt.Errorf("audit wallets: %w", err)
	}
	for _, w := range balances {
		if w.AvailableCents != w.AvailablePosted || w.ReservedCents != w.ReservedPosted {
			breach("wallets equal their postings", w.WorkspaceID, "wallet has %d available and %d reserved, postings %d and %d",
				w.AvailableCents, w.ReservedCents, w.AvailablePosted, w.ReservedPosted)
		}
	}
	return len(balances), nil
}
