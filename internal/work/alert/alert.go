// Package alert warns the people of a workspace that its wallet runs low, if they want
// that: by mail, and by the event wallet.low to their webhook endpoints.
//
// What always holds: only people who asked for it are warned. The warning is sent in the
// transaction of the start that takes the balance below the amount, once each time that it
// falls below it, and at most once in Pause: a job that fails returns its money, and the
// next start takes it again. Package wallet moves the money.
//
// Start reading at Spent. A Notices sends the mails.
package alert

import (
	"context"
	"fmt"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/ground/rowsum"
	"svc.example/internal/work/wallet"
	"svc.example/internal/work/webhook"
)

// Pause is how long a workspace is not told again.
const Pause = time.Hour

// WalletLow is the data of the event wallet.low. Amounts are in cents.
type WalletLow struct {
	WorkspaceID    string `json:"workspace_id"`
	AvailableCents int64  `json:"available_cents" doc:"What is left to spend."`
	BelowCents     int64  `json:"alert_below_cents" doc:"What the workspace calls low."`
	Currency       string `json:"currency"`
}

// Set asks for a warning when less than cents is available; 0 switches it off. cents
// is 0 to wallet.MaxCents. Error: invalid_request.
func Set(ctx context.Context, tx *db.Tx, workspaceID string, cents int64) error {
	if cents < 0 || cents > wallet.MaxCents {
		return fault.Field("body.below_cents", "is %d; it must be 0 to %d", cents, int64(wallet.MaxCents))
	}
	if cents == 0 {
		return Erase(ctx, tx, workspaceID)
	}
	row := query.WalletAlert{WorkspaceID: workspaceID, BelowCents: cents}
	row.RowSum = rows.Of(row)
	if err := tx.WalletAlertSet(ctx, query.WalletAlertSetParams(row)); err != nil {
		return fmt.Errorf("set the alert of a wallet: %w", err)
	}
	return nil
}

// Below is the balance below which a workspace is warned, in cents; 0 for none.
func Below(ctx context.Context, tx *db.Tx, workspaceID string) (cents int64, err error) {
	row, err := tx.WalletAlertGet(ctx, workspaceID)
	if err != nil && !db.IsNotFound(err) {
		return 0, fmt.Errorf("read the alert of a wallet: %w", err)
	}
	return row.BelowCents, nil
}

// Spent warns, in the transaction that has just spent cents, if that took the balance
// below the workspace's amount.
func Spent(ctx context.Context, tx *db.Tx, workspaceID string, has wallet.Balance, cents int64) error {
	row, err := tx.WalletAlertTell(ctx, query.WalletAlertTellParams{
		WorkspaceID: workspaceID, Has: has.AvailableCents, Had: has.AvailableCents + cents, Now: tx.Now, Before: tx.Now - Pause.Microseconds(),
	})
	if db.IsNotFound(err) {
		return nil
	}
	if err == nil {
		err = rows.Renew(ctx, tx, row)
	}
	if err == nil {
		err = webhook.Publish(ctx, tx, webhook.Event{
			WorkspaceID: workspaceID, Type: contract.EventWalletLow,
			Data: WalletLow{workspaceID, has.AvailableCents, row.BelowCents, contract.Currency},
		})
	}
	if err != nil {
		return fmt.Errorf("tell that a wallet runs low: %w", err)
	}
	return lease.AddOrAdvance(ctx, tx, NoticeQueue, workspaceID, 0, tx.Time())
}

// Erase removes the alert of a workspace.
func Erase(ctx context.Context, tx *db.Tx, workspaceID string) error {
	if err := lease.Erase(ctx, tx, NoticeQueue, workspaceID); err != nil {
		return err
	}
	if err := tx.WalletAlertDelete(ctx, workspaceID); err != nil {
		return fmt.Errorf("remove the alert of a wallet: %w", err)
	}
	return nil
}

// rows carry checksums: what people asked for cannot be derived from anything
// else.
var rows = rowsum.Table[query.WalletAlert]{Name: "wallet_alert", Key: 1}

// Sums lists the tables of this package whose rows carry checksums.
var Sums = rowsum.Tables{rows}

// Audit reports alerts that are not as they were written. An error means that the audit did
// not finish.
func Audit(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) error {
	return rows.Audit(ctx, tx, breach, nil)
}
