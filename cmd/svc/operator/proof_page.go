package operator

import (
	"context"
	"fmt"

	"github.com/alecthomas/kong"

	"svc.example/internal/ground/db"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/operator"
)

// proofPage is svc admin workspace proof-page.
type proofPage struct {
	changeFlags
	Workspace string `required:"" help:"Workspace id."`
	On        bool   `xor:"show" required:"" help:"Publish the pages for anyone who knows a receipt's id. This is the default."`
	Off       bool   `xor:"show" required:"" help:"Hide the pages. They answer 404."`
}

// Run publishes or hides the pages. Repeating it changes nothing. Error:
// workspace_not_found.
func (c *proofPage) Run(k *kong.Context) error {
	what := "hide"
	if c.On {
		what = "publish"
	}
	err := c.change(to(operator.Act{What: fmt.Sprintf("%s the proof pages of %s", what, c.Workspace), WorkspaceID: c.Workspace, Do: func(ctx context.Context, tx *db.Tx) error {
		return identity.SetProofPages(ctx, tx, c.Workspace, c.On)
	}}), nil)
	if err != nil {
		return err
	}
	return c.print(k, field{"workspace_id", c.Workspace}, field{"proof_page", c.On})
}
