package operator

import (
	"context"
	"fmt"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/work/erase"
	"svc.example/internal/work/operator"
	"svc.example/internal/work/wallet"
)

// eraseWorkspace is svc admin erase-workspace.
type eraseWorkspace struct {
	changeFlags
	Workspace string `arg:"" help:"Workspace id."`
}

// Run erases a workspace: its rows in one transaction, then its files. For an
// erased workspace it erases any remains, and says when it was erased. Errors:
// workspace_not_found, jobs_not_ended, money_reserved.
func (c *eraseWorkspace) Run(k *kong.Context) error {
	var plan erase.Plan
	var files erase.Files
	err := c.change(func(ctx context.Context, tx *db.Tx) (_ operator.Act, err error) {
		plan, err = erase.Check(ctx, tx, c.Workspace)
		return operator.Act{What: c.proposal(plan), WorkspaceID: c.Workspace, Do: func(ctx context.Context, tx *db.Tx) (err error) {
			files, err = erase.Workspace(ctx, tx, c.Workspace)
			return err
		}}, err
	}, nil)
	if err == nil {
		err = c.remove(files)
	}
	if err != nil {
		return err
	}
	erasedAt := plan.ErasedAt
	if erasedAt.IsZero() {
		erasedAt = time.Now().UTC()
	}
	return c.print(k, field{"workspace_id", c.Workspace}, field{"erased_at", erasedAt.Format(time.RFC3339)},
		field{"erased_before", !plan.ErasedAt.IsZero()}, field{"available_cents", plan.AvailableCents})
}

// proposal says what is erased, what stays, and what becomes of money.
func (c *eraseWorkspace) proposal(p erase.Plan) string {
	if !p.ErasedAt.IsZero() {
		return fmt.Sprintf("erase what is left of %s, which was erased at %s", c.Workspace, p.ErasedAt.Format(time.DateTime))
	}
	what := fmt.Sprintf("erase %s for good, with its people (%d), their sign-ins, keys and webhooks, the names and files of its uploads and jobs, its logs and the text of its receipts. "+
		"What stays: the ledger, ids, states, prices and times of jobs, hashes of files, ids and first characters of keys, and the leaves of the receipt log; who kept a receipt can still verify it", c.Workspace, p.People)
	if p.AvailableCents > 0 {
		what += fmt.Sprintf(". It has %s: that stays in the ledger, and nobody can spend it, so pay it back first", wallet.Money(p.AvailableCents))
	}
	return what
}

// remove deletes the files. What is left after an error goes with the next run or the
// sweep.
func (c *eraseWorkspace) remove(files erase.Files) error {
	blobs, err := app.Files(context.Background(), c.config())
	if err == nil {
		err = files.Remove(context.Background(), blobs)
	}
	if err != nil {
		return fmt.Errorf("the rows of %s are erased, but some of its files are not; run the command again: %w", c.Workspace, err)
	}
	return nil
}
