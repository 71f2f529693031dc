package wallet

import (
	"context"
	"fmt"
	"slices"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/id"
)

// Audit reads the ledger and the wallets page by page and reports entries whose postings
// are not those of their kind, wallets that differ from what the ledger says, and refunds
// without a payment. It returns the number of wallets. Whether a job settled what it
// reserved is for the job package to check: the wallet knows no states of jobs. An error
// means that the audit did not finish.
func Audit(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) (wallets int, err error) {
	if err := auditLedger(ctx, tx, breach); err != nil {
		return 0, fmt.Errorf("audit the ledger: %w", err)
	}
	refunds, err := tx.AuditRefunds(ctx)
	if err != nil {
		return 0, fmt.Errorf("audit refunds: %w", err)
	}
	for _, r := range refunds {
		breach("a refund gives back what was paid", r.JobID, "workspace %s got %d cents back and paid %d", r.WorkspaceID, r.Refunded, r.Captured)
	}
	if wallets, err = auditWallets(ctx, tx, breach); err != nil {
		return 0, fmt.Errorf("audit wallets: %w", err)
	}
	return wallets, nil
}

// auditLedger compares the postings of each entry with its kind. A posting between two
// pages belongs to no entry.
func auditLedger(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) error {
	stored, err := tx.AuditPostingCount(ctx)
	if err != nil {
		return err
	}
	for after := ""; ; {
		rows, err := tx.AuditLedger(ctx, after)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			break
		}
		last := rows[len(rows)-1].TransactionID
		postings, err := tx.AuditPostings(ctx, query.AuditPostingsParams{After: after, Last: last})
		if err != nil {
			return err
		}
		of := map[string]map[string]int64{}
		for _, p := range postings {
			if of[p.TransactionID] == nil {
				of[p.TransactionID] = map[string]int64{}
			}
			of[p.TransactionID][p.Account] = p.AmountCents
		}
		for _, row := range rows {
			entryRows.Check(row, breach)
			if why := strange(row, of[row.TransactionID]); why != "" {
				breach("ledger transactions balance", row.TransactionID, "%s %s: %s", row.Kind, row.Reference, why)
			}
			stored -= int64(len(of[row.TransactionID]))
		}
		after = last
	}
	if stored != 0 {
		breach("ledger transactions balance", "ledger", "%d postings belong to no transaction", stored)
	}
	return nil
}

// strange says how an entry contradicts what this package writes; "" if it does
// not.
func strange(row query.LedgerTransaction, postings map[string]int64) string {
	from, to := accountsOf(Kind(row.Kind), row.WorkspaceID)
	ofJob := !slices.Contains([]Kind{Credited, TopUp, TopUpRefunded, ChargedBack, ChargebackWon, Settled}, Kind(row.Kind))
	switch {
	case from == "":
		return "it is of no known kind"
	case len(postings) != 2 || postings[from] != -row.AmountCents || postings[to] != row.AmountCents:
		return fmt.Sprintf("it moves %d cents from %s to %s, and its postings are %v", row.AmountCents, from, to, postings)
	case row.AmountCents < 1 || row.AmountCents > MaxCents:
		return fmt.Sprintf("it moves %d cents", row.AmountCents)
	case !id.Valid(id.Transaction, row.TransactionID) || row.Reference == "":
		return "its id or its reference has another form"
	case ofJob != (row.JobID != "") || (ofJob && row.Kind != string(Refunded) && row.Reference != row.JobID):
		return fmt.Sprintf("it is of job %q", row.JobID)
	}
	return ""
}

// accountsOf returns the account that an entry takes from and the one that it gives to; ""
// for an unknown kind.
func accountsOf(kind Kind, workspaceID string) (from, to string) {
	available, reserved, receivable := workspaceID+":available", workspaceID+":reserved", workspaceID+":receivable"
	switch kind {
	case Credited:
		return accountFunding, available
	case Reserved:
		return available, reserved
	case Captured:
		return reserved, accountRevenue
	case Released:
		return reserved, available
	case Refunded:
		return accountRevenue, available
	case TopUp, ChargebackWon:
		return accountPayments, available
	case TopUpRefunded, ChargedBack:
		return receivable, accountPayments
	case Settled:
		return available, receivable
	}
	return "", ""
}

// auditWallets adds the ledger up, one page of wallets at a time.
func auditWallets(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) (wallets int, err error) {
	const rule = "wallets equal their postings"
	for after := ""; ; {
		rows, err := tx.AuditWallets(ctx, after)
		if err != nil {
			return wallets, err
		}
		if len(rows) == 0 {
			break
		}
		last := rows[len(rows)-1].WorkspaceID
		sums, err := tx.AuditWalletSums(ctx, query.AuditWalletSumsParams{After: after, Last: last})
		if err != nil {
			return wallets, err
		}
		said := map[string]query.AuditWalletSumsRow{}
		for _, sum := range sums {
			said[sum.WorkspaceID] = sum
		}
		for _, w := range rows {
			if sum := said[w.WorkspaceID]; w.AvailableCents != sum.Available || w.ReservedCents != sum.Reserved || w.OwedCents != sum.Owed {
				breach(rule, w.WorkspaceID, "wallet has %d available, %d reserved and %d owed, postings %d, %d and %d",
					w.AvailableCents, w.ReservedCents, w.OwedCents, sum.Available, sum.Reserved, sum.Owed)
			}
			if w.OwedCents > 0 && w.AvailableCents > 0 {
				breach("what comes in pays a debt first", w.WorkspaceID, "wallet has %d available and owes %d", w.AvailableCents, w.OwedCents)
			}
			delete(said, w.WorkspaceID)
		}
		for workspaceID := range said {
			breach(rule, workspaceID, "the ledger has money of it, and there is no wallet")
		}
		wallets, after = wallets+len(rows), last
	}
	without, err := tx.AuditWalletless(ctx)
	for _, workspaceID := range without {
		breach(rule, workspaceID, "a workspace has a wallet, and this one has none")
	}
	return wallets, err
}
