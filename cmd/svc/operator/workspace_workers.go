package operator

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/alecthomas/kong"

	"svc.example/internal/ground/db"
	"svc.example/internal/work/operator"
)

// workspaceTags is svc admin workspace tags.
type workspaceTags struct {
	actFlags
	Workspace string   `arg:"" help:"Workspace id."`
	Tags      []string `arg:"" optional:"" name:"tag" help:"Tags that a worker must have, all of them, to render for it (svc worker run --tag). They replace those that it required."`
	None      bool     `help:"Require no tag: any worker that is not reserved renders for it."`
}

// Validate refuses an empty list that nobody asked for.
func (c *workspaceTags) Validate() error {
	if c.None == (len(c.Tags) > 0) {
		return errors.New("give the tags, or --none")
	}
	return nil
}

// Run sets which workers render for a workspace. Errors: workspace_not_found,
// invalid_request.
func (c *workspaceTags) Run(k *kong.Context) error {
	route := call{method: http.MethodPut, path: "/workspaces" + part(c.Workspace) + "/tags", body: map[string][]string{"tags": append([]string{}, c.Tags...)}}
	err := c.act(route, nil, func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
		return operator.RequireTags(ctx, tx, c.Workspace, c.Tags)
	}, nil)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.print(k, field{"workspace_id", c.Workspace}, field{"tags", append([]string{}, c.Tags...)})
	}
	return c.print(k, field{"workspace_id", c.Workspace}, field{"tags", strings.Join(c.Tags, ", ")})
}

// workspaceFrames is svc admin workspace frames.
type workspaceFrames struct {
	actFlags
	Workspace string `arg:"" help:"Workspace id."`
	AtOnce    int64  `required:"" help:"The most frames of it that workers render at the same time, each strip of a frame as one; 0 for no limit. Previews, movies and second renderings of reused frames do not count."`
}

// Run limits how many frames of a workspace are rendered at once. Errors:
// workspace_not_found, invalid_request.
func (c *workspaceFrames) Run(k *kong.Context) error {
	route := call{method: http.MethodPut, path: "/workspaces" + part(c.Workspace) + "/frames", body: map[string]int64{"frames_at_once": c.AtOnce}}
	err := c.act(route, nil, func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
		return operator.LimitFrames(ctx, tx, c.Workspace, c.AtOnce)
	}, nil)
	if err != nil {
		return err
	}
	return c.print(k, field{"workspace_id", c.Workspace}, field{"frames_at_once", c.AtOnce})
}
