package wallet

import (
	"context"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/work/freeze"
)

// AddPayment adds a payment to the wallet, once for its top-up. cents is 1 to MaxCents.
// Errors: none for callers; the workspace must have a wallet.
func AddPayment(ctx context.Context, tx *db.Tx, workspaceID, topUpID string, cents int64) error {
	return comeIn(ctx, tx, TopUp, workspaceID, topUpID, cents)
}

// ReturnChargeback adds what a bank took back and gave again, once for its reference, which
// is that of the chargeback. cents is 1 to MaxCents.
func ReturnChargeback(ctx context.Context, tx *db.Tx, workspaceID, reference string, cents int64) error {
	return comeIn(ctx, tx, ChargebackWon, workspaceID, reference, cents)
}

func comeIn(ctx context.Context, tx *db.Tx, kind Kind, workspaceID, reference string, cents int64) error {
	return move(ctx, tx, entry{
		kind: kind, reference: reference, workspace: workspaceID, cents: cents,
		from: accountPayments, to: workspaceID + ":available", available: cents,
	})
}

// TakeRefund takes a refunded part of a payment back, once for its reference. The workspace
// owes it, and pays at once with what it has available; with a rest, it is frozen. cents is
// 1 to MaxCents.
func TakeRefund(ctx context.Context, tx *db.Tx, workspaceID, reference string, cents int64) error {
	return takeBack(ctx, tx, TopUpRefunded, workspaceID, reference, cents)
}

// TakeChargeback does the same for what a bank takes back in a dispute.
func TakeChargeback(ctx context.Context, tx *db.Tx, workspaceID, reference string, cents int64) error {
	return takeBack(ctx, tx, ChargedBack, workspaceID, reference, cents)
}

// Booked returns the amount of the entry of a kind and a reference; 0 when there is none.
func Booked(ctx context.Context, tx *db.Tx, kind Kind, reference string) (cents int64, err error) {
	row, err := tx.LedgerGet(ctx, query.LedgerGetParams{Kind: string(kind), Reference: reference})
	if err != nil && !db.IsNotFound(err) {
		return 0, fmt.Errorf("look up %s %s: %w", kind, reference, err)
	}
	return row.AmountCents, nil
}

func takeBack(ctx context.Context, tx *db.Tx, kind Kind, workspaceID, reference string, cents int64) error {
	return move(ctx, tx, entry{
		kind: kind, reference: reference, workspace: workspaceID, cents: cents,
		from: workspaceID + ":receivable", to: accountPayments, owed: cents,
	})
}

// settleDebt pays what a workspace owes with what it has available, after an entry, by the
// id transaction, has changed either. A workspace whose debt grew is frozen, and one that
// owes nothing any more is not, unless an operator froze it. The entry has locked the
// wallet's row.
func settleDebt(ctx context.Context, tx *db.Tx, after entry, transaction string) error {
	workspaceID := after.workspace
	b, err := Get(ctx, tx, workspaceID)
	if err != nil || b.OwedCents == 0 {
		return err
	}
	cents := min(b.AvailableCents, b.OwedCents)
	if cents > 0 {
		err = move(ctx, tx, entry{
			kind: Settled, reference: transaction, workspace: workspaceID, cents: cents,
			from: workspaceID + ":available", to: workspaceID + ":receivable", available: -cents, owed: -cents,
		})
	}
	switch {
	case err != nil:
		return fmt.Errorf("settle the debt of %s: %w", workspaceID, err)
	case cents == b.OwedCents:
		return freeze.LiftDebt(ctx, tx, workspaceID)
	case after.owed > 0:
		return freeze.SetDebt(ctx, tx, workspaceID)
	}
	return nil
}
