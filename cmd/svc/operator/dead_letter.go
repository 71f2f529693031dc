package operator

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/lease"
)

// deadLetterList lists work that failed too often.
type deadLetterList struct {
	adminFlags
	Queue string `help:"List those of this queue only, such as expire or webhook_notice."`
	Limit int    `default:"100" help:"How many to list, the newest first."`
}

func (c *deadLetterList) Run(k *kong.Context) error {
	var dead []lease.DeadLetter
	err := c.read(func(ctx context.Context, tx *db.Tx) (err error) {
		dead, err = lease.DeadLetters(ctx, tx, c.Queue, c.Limit)
		return err
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return terminal.PrintJSON(k.Stdout, map[string]any{"ok": true, "dead_letters": dead})
	}
	if len(dead) == 0 {
		fmt.Fprintln(k.Stdout, "there is no dead letter")
		return nil
	}
	table := tabwriter.NewWriter(k.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tDIED\tFAILURES\tREASON")
	for _, d := range dead {
		fmt.Fprintf(table, "%s\t%s\t%d\t%s\n", d.ID, d.DiedAt.Format(time.DateTime), d.Failures, d.Reason)
	}
	return table.Flush()
}

// deadLetterRequeue has dead letters done again.
type deadLetterRequeue struct {
	adminFlags
	ID    []string `arg:"" optional:"" help:"Ids, as list prints them."`
	Queue string   `help:"Requeue all dead letters of this queue instead."`
}

func (c *deadLetterRequeue) Run(k *kong.Context) error {
	if (len(c.ID) == 0) == (c.Queue == "") {
		return terminal.WrongUsage(errors.New("give ids, or a queue by --queue"))
	}
	requeued := []string{}
	err := c.change(func(ctx context.Context, tx *db.Tx) (err error) {
		requeued = append([]string{}, c.ID...)
		if c.Queue != "" {
			if requeued, err = deadOf(ctx, tx, c.Queue); err != nil {
				return err
			}
		}
		for _, id := range requeued {
			if err := lease.Requeue(ctx, tx, id); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return terminal.PrintJSON(k.Stdout, map[string]any{"ok": true, "requeued": requeued})
	}
	fmt.Fprintf(k.Stdout, "%d requeued\n", len(requeued))
	return nil
}

// requeueMost bounds how many dead letters of a queue are put back at once: one
// transaction holds them all.
const requeueMost = 10_000

func deadOf(ctx context.Context, tx *db.Tx, queue string) ([]string, error) {
	dead, err := lease.DeadLetters(ctx, tx, queue, requeueMost)
	ids := make([]string, 0, len(dead))
	for _, d := range dead {
		ids = append(ids, d.ID)
	}
	return ids, err
}
