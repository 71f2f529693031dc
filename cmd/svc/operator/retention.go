package operator

import (
	"context"
	"net/http"

	"github.com/alecthomas/kong"

	"svc.example/internal/ground/db"
	"svc.example/internal/work/operator"
)

// workspaceRetention is svc admin workspace retention.
type workspaceRetention struct {
	actFlags
	Workspace string `arg:"" help:"Workspace id."`
	Days      int    `required:"" help:"1 to 365 days after a job's completion; 0 for the setting of the service. Jobs that have completed keep theirs."`
}

// Run sets how long the ZIPs of a workspace are kept. Errors: workspace_not_found,
// invalid_request.
func (c *workspaceRetention) Run(k *kong.Context) error {
	route := call{method: http.MethodPut, path: "/workspaces" + part(c.Workspace) + "/retention", body: map[string]int{"days": c.Days}}
	err := c.act(route, nil, func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
		return operator.KeepArtifacts(ctx, tx, c.Workspace, c.Days)
	}, nil)
	if err != nil {
		return err
	}
	return c.print(k, field{"workspace_id", c.Workspace}, field{"artifact_days", c.Days})
}
