package operator

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/work/operator"
	"svc.example/internal/work/testmode"
)

// testWorldList is svc admin test-world list.
type testWorldList struct{ viewFlags }

// Run prints the test worlds, the one that was used last first, with their sizes.
func (c *testWorldList) Run(k *kong.Context) error {
	var worlds []testmode.World
	var answer operator.TestWorldList
	err := c.view("/test-worlds", nil, &answer, func(ctx context.Context, tx *db.Tx) (err error) {
		worlds, err = testmode.Worlds(ctx, tx)
		return err
	})
	if err == nil && !c.remote() {
		answer, err = operator.TestWorldsList(context.Background(), worlds, func(ctx context.Context, workspaceID string) (int64, error) {
			return app.TestWorldBytes(ctx, c.config(), workspaceID)
		})
	}
	if err != nil {
		return err
	}
	if c.JSON {
		return terminal.PrintJSON(k.Stdout, answer)
	}
	if len(answer.Worlds) == 0 {
		terminal.Printf(k.Stdout, "no workspace has a test world")
		return nil
	}
	list := terminal.NewList(terminal.Column{Title: "WORKSPACE"}, terminal.Column{Title: "SIZE"}, terminal.Column{Title: "LAST USED"},
		terminal.Column{Title: "MADE", Spare: 1}, terminal.Column{Title: "STATE"})
	for _, w := range answer.Worlds {
		state := "kept"
		if w.EndedAt != nil {
			state = "being removed"
		}
		list.Row(w.WorkspaceID, mebibytes(w.Bytes), w.UsedAt.Format(time.DateTime), w.CreatedAt.Format(time.DateTime), state)
	}
	list.Print(k.Stdout)
	terminal.Printf(k.Stdout, "%d in all, %s", len(answer.Worlds), mebibytes(answer.Bytes))
	return nil
}

func mebibytes(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

// testWorldRemove is svc admin test-world remove.
type testWorldRemove struct {
	actFlags
	Workspace string `arg:"" help:"Workspace id, as svc admin test-world list prints it."`
}

// Run ends a workspace's test world. Error: workspace_not_found.
func (c *testWorldRemove) Run(k *kong.Context) error {
	err := c.act(call{method: http.MethodDelete, path: "/workspaces" + part(c.Workspace) + "/test-world"}, nil, func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
		return operator.RemoveTestWorld(ctx, tx, c.Workspace)
	}, nil)
	if err != nil {
		return err
	}
	return c.print(k, field{"workspace_id", c.Workspace}, field{"state", "being removed"})
}
