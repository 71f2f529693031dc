package alert

import (
	"context"
	"fmt"
	"log/slog"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/lease"
	"svc.example/internal/ground/numbers"
	"svc.example/internal/work/wallet"
)

// NoticeQueue is the lease queue of workspaces whose people receive a mail. The subject is
// the workspace.
const NoticeQueue = "wallet_notice"

// MaxNotices bounds the tries of a mail: with the runner's pauses, about an hour. After that
// it is a dead letter; the console still says that the wallet runs low.
const MaxNotices = 60

// Notices mail the people of workspaces whose wallets run low. They are work of their own
// queue, so that a slow mail server delays no start.
type Notices struct {
	DB *db.DB
	// Send sends a mail; nil when no mail server is configured.
	Send func(ctx context.Context, to, subject, text string) error
	// Page is the address of the wallet's page.
	Page string
	Log  *slog.Logger
}

// Notify handles a lease of NoticeQueue. It sends nothing when the wallet has been filled or
// the alert removed meanwhile. Without a mail server it logs at debug level and is done: the
// webhook event was sent. An error leaves the lease to the runner, which tries again later;
// people who got their mail then get it a second time.
func (n Notices) Notify(ctx context.Context, l lease.Lease) error {
	var has wallet.Balance
	var below int64
	var people []string
	err := n.DB.Read(ctx, func(tx *db.Tx) (err error) {
		if below, err = Below(ctx, tx, l.Subject); err != nil || below == 0 {
			return err
		}
		if has, err = wallet.Get(ctx, tx, l.Subject); err != nil {
			return err
		}
		people, err = tx.WorkspaceOwners(ctx, l.Subject)
		return err
	})
	if err != nil {
		return fmt.Errorf("read whom to tell of a low wallet: %w", err)
	}
	if n.Send == nil {
		n.Log.Debug("a wallet runs low, and no mail server is configured", "workspace_id", l.Subject)
		people = nil
	}
	if has.AvailableCents < below {
		for _, to := range people {
			if err := n.Send(ctx, to, "Your wallet runs low", n.text(has, below)); err != nil {
				return err
			}
		}
	}
	return n.DB.Write(ctx, func(tx *db.Tx) error { return lease.Finish(ctx, tx, l.Ref()) })
}

func (n Notices) text(has wallet.Balance, below int64) string {
	return fmt.Sprintf("The wallet of your workspace %s has %s left.\nYou asked to be notified below %s.\n\nRunning jobs continue. To add credit or change the amount:\n\n%s\n",
		contract.Service, numbers.Dollars(has.AvailableCents), numbers.Dollars(below), n.Page)
}
