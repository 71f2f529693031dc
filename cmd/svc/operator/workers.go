package operator

import (
	"context"
	"fmt"
	"io"
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

// Run lists workers, suspended ones with the time until which they get no frames, and
// below them the node keys that are paused, with the reason, and those whose pictures
// were refuted.
func (c *workers) Run(k *kong.Context) error {
	var workers []dispatch.WorkerView
	var paused []dispatch.PausedKey
	var refuted []dispatch.RefutedKey
	err := c.read(func(ctx context.Context, tx *db.Tx) (err error) {
		if workers, err = dispatch.ListWorkers(ctx, tx, c.Within); err != nil {
			return err
		}
		if paused, err = dispatch.PausedKeys(ctx, tx); err != nil {
			return err
		}
		refuted, err = dispatch.RefutedKeys(ctx, tx)
		return err
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return terminal.PrintJSON(k.Stdout, map[string]any{"ok": true, "workers": workers, "paused_keys": paused, "refuted_keys": refuted})
	}
	if len(workers) == 0 {
		fmt.Fprintf(k.Stdout, "no worker was seen within %s\n", c.Within)
	} else if err := printWorkers(k.Stdout, workers); err != nil {
		return err
	}
	for _, key := range paused {
		terminal.Printf(k.Stdout, "node key %s (%s) is paused until %s: %d of %d attempts failed, far more than on the other keys",
			key.KeyID, key.Name, key.Until.Format(time.DateTime), key.Failed, key.Attempts)
	}
	for _, key := range refuted {
		terminal.Printf(k.Stdout, "node key %s (%s) painted %d of %d compared pictures other than two other workers did",
			key.KeyID, key.Name, key.Refuted, key.Refuted+key.Confirmed)
	}
	return nil
}

// printWorkers prints a table of workers.
func printWorkers(out io.Writer, workers []dispatch.WorkerView) error {
	table := terminal.NewTable(out)
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
