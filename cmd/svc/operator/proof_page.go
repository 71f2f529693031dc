package operator

import (
	"context"

	"github.com/alecthomas/kong"

	"svc.example/internal/ground/db"
	"svc.example/internal/work/identity"
)

type proofPage struct {
	adminFlags
	Workspace string `required:"" help:"Workspace id."`
	On        bool   `xor:"show" required:"" help:"Show them; so it is at first."`
	Off       bool   `xor:"show" required:"" help:"Answer 404."`
}

func (c *proofPage) Run(k *kong.Context) error {
	err := c.change(func(ctx context.Context, tx *db.Tx) error { return identity.SetProofPages(ctx, tx, c.Workspace, c.On) })
	if err != nil {
		return err
	}
	return c.print(k, field{"workspace_id", c.Workspace}, field{"proof_page", c.On})
}
