package operator

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/db"
	"svc.example/internal/work/dispatch"
)

// workers is svc admin workers.
type workers struct {
	adminFlags
	Within time.Duration `default:"24h" help:"List workers that were seen within this time."`
}

// Run lists workers, suspended ones with the time until which they get no frames.
func (c *workers) Run(k *kong.Context) error {
	var workers []dispatch.WorkerView
	err := c.read(func(ctx context.Context, tx *db.Tx) (err error) {
		workers, err = dispatch.ListWorkers(ctx, tx, c.Within)
		return err
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return terminal.PrintJSON(k.Stdout, map[string]any{"ok": true, "workers": workers})
	}
	if len(workers) == 0 {
		fmt.Fprintf(k.Stdout, "no worker was seen within %s\n", c.Within)
		return nil
	}
	table := terminal.NewTable(k.Stdout)
	table.Row("WORKER", "NAME", "STATE", "FRAMES", "DEVICE", "BLENDER", "SANDBOX", "LAST SEEN")
	for _, w := range workers {
		state := string(w.State)
		if w.AsideUntil != nil {
			state += " until " + w.AsideUntil.Format(time.TimeOnly)
		}
		table.Row(w.WorkerID, w.Name, state, strconv.Itoa(w.Frames), w.DeviceName, w.BlenderVersion, w.Sandbox, w.SeenAt.Format(time.DateTime))
	}
	return table.Flush()
}
