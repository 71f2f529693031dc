package operator

import (
	"cmp"
	"context"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/id"
	"svc.example/internal/work/wallet"
)

// moveFlags are common to the commands that move money from outside of a job.
type moveFlags struct {
	adminFlags
	Cents     int64  `required:"" help:"Amount, in cents."`
	Reference string `help:"Reference of the entry, such as an invoice number. Repeating a reference moves nothing."`
}

// move writes one ledger entry and prints the wallet after it. Without --reference the
// entry gets a random one, so two calls move money twice; with it a repeat moves
// nothing, and the command may be run again after any failure.
func (f *moveFlags) move(k *kong.Context, entry func(ctx context.Context, tx *db.Tx, reference string) (workspaceID string, err error)) error {
	if f.Cents < 1 || f.Cents > wallet.MaxCents {
		return terminal.WrongUsagef("--cents is %d; it must be 1 to %d", f.Cents, int64(wallet.MaxCents))
	}
	reference := cmp.Or(f.Reference, "operator "+id.New(id.Transaction))
	var workspaceID string
	var b wallet.Balance
	err := f.change(func(ctx context.Context, tx *db.Tx) (err error) {
		if workspaceID, err = entry(ctx, tx, reference); err != nil {
			return err
		}
		b, err = wallet.Get(ctx, tx, workspaceID)
		return err
	})
	if err != nil {
		return err
	}
	return f.print(k, field{"workspace_id", workspaceID}, field{"available_cents", b.AvailableCents}, field{"reserved_cents", b.ReservedCents})
}

// walletCredit is svc admin wallet credit.
type walletCredit struct {
	moveFlags
	Workspace string `required:"" help:"Workspace id."`
}

// Run adds money to a wallet. Error: workspace_not_found.
func (c *walletCredit) Run(k *kong.Context) error {
	return c.move(k, func(ctx context.Context, tx *db.Tx, reference string) (string, error) {
		return c.Workspace, wallet.Credit(ctx, tx, c.Workspace, reference, c.Cents)
	})
}

// walletRefund is svc admin wallet refund.
type walletRefund struct {
	moveFlags
	Job string `required:"" help:"Id of a completed job. At most what it was charged is returned."`
}

// Run returns captured money to the workspace that paid. All refunds of a job together
// never exceed what it was charged.
func (c *walletRefund) Run(k *kong.Context) error {
	return c.move(k, func(ctx context.Context, tx *db.Tx, reference string) (string, error) {
		return wallet.Refund(ctx, tx, c.Job, reference, c.Cents)
	})
}
