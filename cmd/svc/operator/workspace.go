package operator

import (
	"context"

	"github.com/alecthomas/kong"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/id"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/wallet"
)

type workspaceCreate struct {
	adminFlags
	Email       string `required:"" help:"Address of the person it is for."`
	CreditCents int64  `help:"Money to begin with, in cents."`
}

// Run makes the workspace. For somebody who has one it makes keys to it.
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
