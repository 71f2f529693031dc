package payment

import (
	"context"
	"fmt"
	"slices"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/rowsum"
)

// rows carry checksums: what the provider said follows from nothing in the store.
var rows = rowsum.Table[query.TopUp]{Name: "top_up", Key: 1, Except: []string{"CheckedAt"}, Later: []string{"StartedBy", "KeyID"}}

var eventRows = rowsum.Table[query.PaymentEvent]{Name: "payment_event", Key: 1}

// Sums lists the tables of this package whose rows carry checksums.
var Sums = rowsum.Tables{rows, eventRows}

// Audit compares each top-up with the ledger, in both directions, and with its checksum,
// and each event with its own. An error means that the audit did not finish.
func Audit(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) error {
	for after := ""; ; {
		page, err := tx.TopUpAfter(ctx, after)
		if err != nil {
			return fmt.Errorf("audit top-ups: %w", err)
		}
		last := id.Behind(id.TopUp)
		if len(page) > 0 {
			last = page[len(page)-1].TopUpID
		}
		entries, err := tx.AuditTopUpEntries(ctx, query.AuditTopUpEntriesParams{After: after, Last: last})
		if err != nil {
			return fmt.Errorf("audit the ledger of top-ups: %w", err)
		}
		compare(page, entries, breach)
		if len(page) == 0 {
			break
		}
		after = last
	}
	return eventRows.Audit(ctx, tx, breach, nil)
}

// compare compares a page of top-ups with the ledger.
func compare(page []query.TopUp, entries []query.AuditTopUpEntriesRow, breach func(rule, subject, format string, args ...any)) {
	const rule = "a top-up is credited once, when it is paid"
	booked := map[string]query.AuditTopUpEntriesRow{}
	for _, e := range entries {
		booked[e.TopUpID+e.WorkspaceID] = e
	}
	for _, row := range page {
		rows.Check(row, breach)
		has := booked[row.TopUpID+row.WorkspaceID]
		delete(booked, row.TopUpID+row.WorkspaceID)
		paid := int64(0)
		if row.PaidAt != 0 {
			paid = row.AmountCents
		}
		if has.Paid != paid || has.Refunded != row.RefundedCents || has.Disputed != row.DisputedCents {
			breach(rule, row.TopUpID, "it says %d cents paid, %d refunded and %d disputed, the ledger %d, %d and %d",
				paid, row.RefundedCents, row.DisputedCents, has.Paid, has.Refunded, has.Disputed)
		}
		if s := Status(row.Status); row.PaidAt != 0 && s != paidStatus(row) || row.PaidAt == 0 && !slices.Contains([]Status{Created, Open, Failed, Expired}, s) || left(row) < 0 {
			breach("a top-up's status follows from what was booked", row.TopUpID, "it is %s, paid at %d, %d of %d cents refunded and %d disputed",
				row.Status, row.PaidAt, row.RefundedCents, row.AmountCents, row.DisputedCents)
		}
	}
	for _, e := range booked {
		breach(rule, e.TopUpID, "the ledger of %s has entries of it, and there is no such top-up", e.WorkspaceID)
	}
}

// Erase removes the provider's names and pages of a workspace's payments. What was paid
// stays, as the ledger does.
func Erase(ctx context.Context, tx *db.Tx, workspaceID string) error {
	erased, err := tx.TopUpErase(ctx, workspaceID)
	if err != nil {
		return fmt.Errorf("erase top-ups: %w", err)
	}
	for _, row := range erased {
		if err := rows.Renew(ctx, tx, row); err != nil {
			return err
		}
	}
	return nil
}

// Forget takes a person who was erased out of the top-ups that they began in other workspaces.
func Forget(ctx context.Context, tx *db.Tx, personID string) error {
	forgotten, err := tx.TopUpsForget(ctx, personID)
	if err != nil {
		return fmt.Errorf("forget who began top-ups: %w", err)
	}
	for _, row := range forgotten {
		if err := rows.Renew(ctx, tx, row); err != nil {
			return err
		}
	}
	return nil
}
