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
	viewFlags
	pageFlags
}

// Run lists what operators did, in the console and by svc admin.
func (c *actList) Run(k *kong.Context) error {
	answer := operator.ActList{OK: true}
	err := c.view("/acts", c.query(), &answer, func(ctx context.Context, tx *db.Tx) (err error) {
		answer.Acts, err = operator.Acts(ctx, tx, c.Before, c.Limit)
		return err
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return terminal.PrintJSON(k.Stdout, answer)
	}
	if len(answer.Acts) == 0 {
		terminal.Printf(k.Stdout, "no operator has changed anything yet")
		return nil
	}
	for _, a := range answer.Acts {
		terminal.Printf(k.Stdout, "%s  %s (%s): %s", a.ActedAt.Format(time.DateTime), a.Actor, a.Way, a.What)
		if a.Reason != "" {
			terminal.Printf(k.Stdout, "  %s", a.Reason)
		}
	}
	return nil
}
