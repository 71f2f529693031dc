package operator

import (
	"context"

	"github.com/alecthomas/kong"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/id"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/wallet"
)

// workspaceCreate is svc admin workspace create.
type workspaceCreate struct {
	adminFlags
	Email       string `required:"" help:"E-mail address of the person that the workspace is for."`
	CreditCents int64  `help:"Opening balance, in cents."`
}

// Run makes person, workspace, wallet, two keys and the opening balance in one
// transaction. For a known address it adds new keys, and the balance, to the workspace
// that the person has; so repeating it after a failure is safe, and repeating it after
// a success is not the same as doing nothing.
func (c *workspaceCreate) Run(k *kong.Context) error {
	var p identity.Person
	var account, agent identity.NewKey
	err := c.write(func(ctx context.Context, tx *db.Tx) (err error) {
		if p, err = identity.CreateWorkspace(ctx, tx, c.Email); err != nil {
			return err
		}
		if account, err = identity.CreateAccountKey(ctx, tx, p.WorkspaceID, "first account key"); err != nil {
			return err
		}
		if agent, err = identity.CreateAgentKey(ctx, tx, p.WorkspaceID, "first agent key", nil); err != nil || c.CreditCents == 0 {
			return err
		}
		return wallet.Credit(ctx, tx, p.WorkspaceID, "operator "+id.New(id.Transaction), c.CreditCents)
	})
	if err != nil {
		return err
	}
	return c.print(k, field{"workspace_id", p.WorkspaceID}, field{"account_key", account.Secret}, field{"agent_key", agent.Secret}, field{"credit_cents", c.CreditCents})
}
