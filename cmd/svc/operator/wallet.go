package operator

import (
	"cmp"
	"context"
	"net/http"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/db"
	"svc.example/internal/work/operator"
	"svc.example/internal/work/wallet"
)

// moveFlags are common to the commands that move money from outside of a job.
type moveFlags struct {
	actFlags
	Cents     int64  `required:"" help:"Amount, in cents."`
	Reference string `help:"Reference of the entry, such as an invoice number. A repeated reference moves no money."`
}

// move asks, writes one ledger entry and prints the wallet after it. Without --reference
// the entry gets a random one, so two calls move money twice; with it a repeat moves
// nothing, and the command may be run again after any failure.
func (f *moveFlags) move(k *kong.Context, path string, propose func(ctx context.Context, tx *db.Tx, reference string) (operator.Act, error)) error {
	if f.Cents < 1 || f.Cents > wallet.MaxCents {
		return terminal.WrongUsagef("--cents is %d; it must be 1 to %d", f.Cents, int64(wallet.MaxCents))
	}
	reference := cmp.Or(f.Reference, wallet.NewReference())
	var after operator.WalletActed
	var workspaceID string
	route := call{method: http.MethodPost, path: path, body: map[string]any{"cents": f.Cents, "reference": reference}, key: newKey()}
	err := f.act(route, &after, func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
		act, err := propose(ctx, tx, reference)
		workspaceID = act.WorkspaceID
		return act, err
	}, func(ctx context.Context, tx *db.Tx) (err error) {
		after, err = operator.WalletAfter(ctx, tx, workspaceID)
		return err
	})
	if err != nil {
		return err
	}
	return f.print(k, field{"workspace_id", after.WorkspaceID}, field{"available_cents", after.AvailableCents}, field{"reserved_cents", after.ReservedCents})
}

// credit adds money to a wallet. Error: workspace_not_found.
func (f *moveFlags) credit(k *kong.Context, workspaceID string) error {
	return f.move(k, "/workspaces"+part(workspaceID)+"/credit", func(ctx context.Context, tx *db.Tx, reference string) (operator.Act, error) {
		return operator.Credit(ctx, tx, workspaceID, reference, f.Cents)
	})
}

// refund returns captured money to the workspace that paid. All refunds of a job together
// never exceed what it was charged.
func (f *moveFlags) refund(k *kong.Context, jobID string) error {
	return f.move(k, "/jobs"+part(jobID)+"/refund", func(ctx context.Context, tx *db.Tx, reference string) (operator.Act, error) {
		return operator.Refund(ctx, tx, jobID, reference, f.Cents)
	})
}

// workspaceCredit is svc admin workspace credit.
type workspaceCredit struct {
	moveFlags
	Workspace string `arg:"" help:"Workspace id."`
}

// Run adds money to a wallet.
func (c *workspaceCredit) Run(k *kong.Context) error { return c.credit(k, c.Workspace) }

// workspaceRefund is svc admin workspace refund.
type workspaceRefund struct {
	moveFlags
	Job string `arg:"" help:"Id of a completed job. You can refund at most its price."`
}

// Run returns money of a job.
func (c *workspaceRefund) Run(k *kong.Context) error { return c.refund(k, c.Job) }

// walletCredit is svc admin wallet credit, the earlier name of workspace credit.
type walletCredit struct {
	moveFlags
	Workspace string `required:""`
}

// Run adds money to a wallet.
func (c *walletCredit) Run(k *kong.Context) error { return c.credit(k, c.Workspace) }

// walletRefund is svc admin wallet refund, the earlier name of workspace refund.
type walletRefund struct {
	moveFlags
	Job string `required:""`
}

// Run returns money of a job.
func (c *walletRefund) Run(k *kong.Context) error { return c.refund(k, c.Job) }
