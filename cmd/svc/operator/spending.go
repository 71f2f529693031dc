package operator

import (
	"context"
	"net/http"

	"github.com/alecthomas/kong"

	"svc.example/internal/ground/db"
	"svc.example/internal/work/operator"
)

// workspaceLimit is svc admin workspace limit.
type workspaceLimit struct {
	actFlags
	Workspace  string `arg:"" help:"Workspace id."`
	DailyCents int64  `required:"" help:"The most that its jobs may cost in a calendar day (UTC), in cents; 0 for no limit. Failed and cancelled jobs do not count."`
}

// Run sets what a workspace may spend in a day. Errors: workspace_not_found,
// invalid_request.
func (c *workspaceLimit) Run(k *kong.Context) error {
	route := call{method: http.MethodPut, path: "/workspaces" + part(c.Workspace) + "/limit", body: map[string]int64{"daily_cents": c.DailyCents}}
	err := c.act(route, nil, func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
		return operator.LimitSpending(ctx, tx, c.Workspace, c.DailyCents)
	}, nil)
	if err != nil {
		return err
	}
	return c.print(k, field{"workspace_id", c.Workspace}, field{"daily_cents", c.DailyCents})
}
