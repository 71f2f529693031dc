package operator

import (
	"context"
	"strconv"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/db"
	"svc.example/internal/work/operator"
	"svc.example/internal/work/process"
)

// processList is svc admin process list.
type processList struct{ viewFlags }

// Run lists the processes that serve, and those that fell silent within an hour.
func (c *processList) Run(k *kong.Context) error {
	answer := operator.ProcessList{OK: true}
	err := c.view("/processes", nil, &answer, func(ctx context.Context, tx *db.Tx) (err error) {
		answer.Processes, err = process.List(ctx, tx)
		return err
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return terminal.PrintJSON(k.Stdout, answer)
	}
	if len(answer.Processes) == 0 {
		terminal.Printf(k.Stdout, "no process of the service is running")
		return nil
	}
	list := terminal.NewList(terminal.Column{Title: "PROCESS"}, terminal.Column{Title: "HOST", Cut: true}, terminal.Column{Title: "VERSION", Cut: true},
		terminal.Column{Title: "SCHEMA", Spare: 2}, terminal.Column{Title: "STARTED", Spare: 1}, terminal.Column{Title: "STATE"})
	for _, p := range answer.Processes {
		state := "running"
		if !p.Alive {
			state = "silent since " + p.SeenAt.Format(time.DateTime)
		}
		list.Row(p.ProcessID, p.Host, p.Version, strconv.FormatInt(p.Schema, 10), p.StartedAt.Format(time.DateTime), state)
	}
	list.Print(k.Stdout)
	return nil
}
