package operator

import (
	"context"
	"net/http"

	"github.com/alecthomas/kong"

	"svc.example/internal/ground/db"
	"svc.example/internal/work/operator"
)

// workspaceFreeze is svc admin workspace freeze.
type workspaceFreeze struct {
	actFlags
	Workspace string `arg:"" help:"Workspace id."`
	Reason    string `required:"" help:"Reason shown to the workspace, 1 to 500 bytes."`
}

// Run freezes a workspace. Freezing it again changes the reason. Error:
// workspace_not_found.
func (c *workspaceFreeze) Run(k *kong.Context) error {
	route := call{method: http.MethodPut, path: "/workspaces" + part(c.Workspace) + "/freeze", body: reasoned{c.Reason}}
	err := c.act(route, nil, func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
		return operator.FreezeWorkspace(ctx, tx, c.Workspace, c.Reason)
	}, nil)
	if err != nil {
		return err
	}
	return c.print(k, field{"workspace_id", c.Workspace}, field{"frozen", true})
}

// workspaceUnfreeze is svc admin workspace unfreeze.
type workspaceUnfreeze struct {
	actFlags
	Workspace string `arg:"" help:"Workspace id."`
}

// Run lets a workspace start jobs again. Repeating it changes nothing. Error:
// workspace_not_found.
func (c *workspaceUnfreeze) Run(k *kong.Context) error {
	route := call{method: http.MethodDelete, path: "/workspaces" + part(c.Workspace) + "/freeze"}
	err := c.act(route, nil, func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
		return operator.UnfreezeWorkspace(ctx, tx, c.Workspace)
	}, nil)
	if err != nil {
		return err
	}
	return c.print(k, field{"workspace_id", c.Workspace}, field{"frozen", false})
}
