package operator

import (
	"context"

	"github.com/alecthomas/kong"

	"svc.example/internal/ground/db"
	"svc.example/internal/work/operator"
)

// workspaceFreeze is svc admin workspace freeze.
type workspaceFreeze struct {
	changeFlags
	Workspace string `arg:"" help:"Workspace id."`
	Reason    string `required:"" help:"Reason shown to the workspace, 1 to 500 bytes."`
}

// Run freezes a workspace. Freezing it again changes the reason. Error:
// workspace_not_found.
func (c *workspaceFreeze) Run(k *kong.Context) error {
	err := c.change(func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
		return operator.FreezeWorkspace(ctx, tx, c.Workspace, c.Reason)
	}, nil)
	if err != nil {
		return err
	}
	return c.print(k, field{"workspace_id", c.Workspace}, field{"frozen", true})
}

// workspaceUnfreeze is svc admin workspace unfreeze.
type workspaceUnfreeze struct {
	changeFlags
	Workspace string `arg:"" help:"Workspace id."`
}

// Run lets a workspace start jobs again. Repeating it changes nothing. Error:
// workspace_not_found.
func (c *workspaceUnfreeze) Run(k *kong.Context) error {
	err := c.change(func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
		return operator.UnfreezeWorkspace(ctx, tx, c.Workspace)
	}, nil)
	if err != nil {
		return err
	}
	return c.print(k, field{"workspace_id", c.Workspace}, field{"frozen", false})
}
