package operator

import (
	"net/http"

	"github.com/alecthomas/kong"

	"svc.example/internal/work/operator"
)

// proofPage is svc admin workspace proof-page.
type proofPage struct {
	actFlags
	Workspace string `required:"" help:"Workspace id."`
	On        bool   `xor:"show" required:"" help:"Publish the pages for anyone who knows a receipt's id. This is the default."`
	Off       bool   `xor:"show" required:"" help:"Hide the pages. They answer 404."`
}

// Run publishes or hides the pages. Repeating it changes nothing. Error:
// workspace_not_found.
func (c *proofPage) Run(k *kong.Context) error {
	route := call{method: http.MethodPut, path: "/workspaces" + part(c.Workspace) + "/proof-page", body: map[string]any{"on": c.On}}
	err := c.act(route, nil, to(operator.PublishProofs(c.Workspace, c.On)), nil)
	if err != nil {
		return err
	}
	return c.print(k, field{"workspace_id", c.Workspace}, field{"proof_page", c.On})
}
