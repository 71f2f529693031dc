package operator

import (
	"context"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/db"
	"svc.example/internal/work/operator"
)

// actList is svc admin act list.
type actList struct {
	adminFlags
	pageFlags
}

// Run lists what operators did, in the console and by svc admin.
func (c *actList) Run(k *kong.Context) error {
	var acts []operator.Done
	err := c.read(func(ctx context.Context, tx *db.Tx) (err error) {
		acts, err = operator.Acts(ctx, tx, c.Before, c.Limit)
		return err
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return terminal.PrintJSON(k.Stdout, map[string]any{"ok": true, "acts": acts})
	}
	if len(acts) == 0 {
		terminal.Printf(k.Stdout, "no operator has changed anything yet")
		return nil
	}
	list := terminal.NewList(terminal.Column{Title: "AT"}, terminal.Column{Title: "WHO"}, terminal.Column{Title: "WAY", Spare: 1}, terminal.Column{Title: "WHAT", Cut: true}, terminal.Column{Title: "REASON", Spare: 2})
	for _, a := range acts {
		list.Row(a.ActedAt.Format(time.DateTime), a.Actor, string(a.Way), a.What, a.Reason)
	}
	list.Print(k.Stdout)
	return nil
}
