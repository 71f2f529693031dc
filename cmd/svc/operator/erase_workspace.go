package operator

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/work/erase"
	"svc.example/internal/work/operator"
)

// eraseWorkspace is svc admin erase-workspace.
type eraseWorkspace struct {
	actFlags
	Workspace string `arg:"" help:"Workspace id."`
}

// Run erases a workspace: its rows in one transaction, then its files. For an
// erased workspace it erases any remains, and says when it was erased. Errors:
// workspace_not_found, jobs_not_ended, money_reserved.
func (c *eraseWorkspace) Run(k *kong.Context) error {
	var plan erase.Plan
	var files erase.Files
	var after operator.Erased
	err := c.act(call{method: http.MethodDelete, path: "/workspaces" + part(c.Workspace)}, &after, func(ctx context.Context, tx *db.Tx) (act operator.Act, err error) {
		act, plan, err = erase.Propose(ctx, tx, c.Workspace, &files)
		return act, err
	}, func(_ context.Context, tx *db.Tx) error {
		after = plan.After(c.Workspace, tx.Time())
		return nil
	})
	if err == nil && !c.remote() {
		err = c.remove(files)
	}
	if err != nil {
		return err
	}
	return c.print(k, field{"workspace_id", c.Workspace}, field{"erased_at", after.ErasedAt.Format(time.RFC3339)},
		field{"erased_before", after.ErasedBefore}, field{"available_cents", after.AvailableCents})
}

// remove deletes the files. What is left after an error goes with the next run or the
// sweep.
func (c *eraseWorkspace) remove(files erase.Files) error {
	blobs, err := app.Files(context.Background(), c.config())
	if err == nil {
		err = files.Remove(context.Background(), blobs)
	}
	if err != nil {
		return fmt.Errorf("the rows of %s are erased, but some of its files are not; run the command again: %w", c.Workspace, err)
	}
	return nil
}
