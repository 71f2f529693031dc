package operator

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/db"
	"svc.example/internal/render/buildoption"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/operator"
)

// workerList is svc admin worker list.
type workerList struct {
	viewFlags
	Within time.Duration `default:"24h" help:"List workers seen within this time."`
}

// Run lists workers, suspended ones with the time until which they get no frames, and
// below them the node keys that are paused, with the reason, and those whose pictures
// were refuted.
func (c *workerList) Run(k *kong.Context) error {
	var l operator.WorkerList
	if c.remote() && (c.Within < time.Hour || c.Within%time.Hour != 0) {
		return terminal.WrongUsagef("with --server or --profile, --within must be whole hours, such as 24h")
	}
	err := c.view("/workers", url.Values{"within_hours": {strconv.Itoa(int(c.Within / time.Hour))}}, &l, func(ctx context.Context, tx *db.Tx) (err error) {
		l, err = operator.WorkersOf(ctx, tx, c.Within)
		return err
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return terminal.PrintJSON(k.Stdout, l)
	}
	if len(l.Workers) == 0 {
		terminal.Printf(k.Stdout, "no worker was seen within %s", c.Within)
	} else {
		printWorkers(k.Stdout, l.Workers)
	}
	for _, key := range l.PausedKeys {
		terminal.Printf(k.Stdout, "node key %s (%s) is paused until %s: %d of %d attempts failed, far more than on the other keys",
			key.KeyID, key.Name, key.Until.Format(time.DateTime), key.Failed, key.Attempts)
	}
	for _, key := range l.RefutedKeys {
		terminal.Printf(k.Stdout, "node key %s (%s) painted %d of %d compared pictures other than two other workers did",
			key.KeyID, key.Name, key.Refuted, key.Refuted+key.Confirmed)
	}
	return nil
}

// printWorkers prints a list of workers.
func printWorkers(out io.Writer, workers []dispatch.WorkerView) {
	list := terminal.NewList(terminal.Column{Title: "WORKER"}, terminal.Column{Title: "NAME", Cut: true}, terminal.Column{Title: "STATE"},
		terminal.Column{Title: "FRAMES", Spare: 1}, terminal.Column{Title: "DEVICE", Cut: true}, terminal.Column{Title: "BLENDER", Spare: 2},
		terminal.Column{Title: "SANDBOX", Spare: 3}, terminal.Column{Title: "LAST SEEN"})
	for _, w := range workers {
		state := string(w.State)
		if w.SuspendedUntil != nil {
			state += " until " + w.SuspendedUntil.Format(time.TimeOnly)
		}
		sandbox, _, _ := strings.Cut(w.Sandbox, " (") // worker show has its walls and limits
		list.Row(w.WorkerID, w.Name, state, strconv.Itoa(w.Frames), w.DeviceName, w.BlenderVersion, sandbox, w.SeenAt.Format(time.DateTime))
	}
	list.Print(out)
	for _, w := range workers {
		if w.State == dispatch.WorkerUnable {
			terminal.Printf(out, "%s (%s) cannot work: %s", w.WorkerID, w.Name, w.Unable)
		}
	}
}

// workerShow is svc admin worker show.
type workerShow struct {
	viewFlags
	Worker string `arg:"" help:"Worker id."`
}

// Run shows one worker. Error: worker_not_found.
func (c *workerShow) Run(k *kong.Context) error {
	var shown operator.Worker
	err := c.view("/workers"+part(c.Worker), nil, &shown, func(ctx context.Context, tx *db.Tx) (err error) {
		shown, err = operator.WorkerOf(ctx, tx, c.Worker)
		return err
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return terminal.PrintJSON(k.Stdout, shown)
	}
	w := shown.Worker
	printWorkers(k.Stdout, []dispatch.WorkerView{w})
	terminal.Printf(k.Stdout, "node key %s, renderer %s, denoise %s, registered %s", w.KeyID, w.Renderer, w.Denoise, w.RegisteredAt.Format(time.DateTime))
	if len(w.Tags) > 0 {
		terminal.Printf(k.Stdout, "tags %s%s", strings.Join(w.Tags, ", "), map[bool]string{true: ", reserved"}[w.Reserved])
	}
	if len(w.Lacks) > 0 {
		terminal.Printf(k.Stdout, "it lacks %s", buildoption.List(w.Lacks))
	}
	return printFrames(k.Stdout, shown.Frames, shown.Failures)
}

// printFrames prints frames in workers' hands and failed attempts, where there are any.
func printFrames(out io.Writer, held []dispatch.HeldFrame, failed []dispatch.FailedFrame) error {
	table := terminal.NewTable(out)
	for _, h := range held {
		table.Row("renders", fmt.Sprintf("%s frame %d", h.JobID, h.Frame), h.WorkerID, fmt.Sprintf("attempt %d, %.0f %%", h.Attempt, h.Progress))
	}
	for _, f := range failed {
		table.Row("failed", fmt.Sprintf("%s frame %d", f.JobID, f.Frame), f.WorkerID, fmt.Sprintf("%s at %s: %s", f.Code, f.FailedAt.Format(time.DateTime), f.Message))
	}
	return table.Flush()
}

// workerDrain is svc admin worker drain.
type workerDrain struct {
	actFlags
	Worker string `arg:"" help:"Worker id."`
	Undo   bool   `help:"Give the worker frames again."`
}

// Run drains a worker. Repeating it changes nothing. Error: worker_not_found.
func (c *workerDrain) Run(k *kong.Context) error {
	var after operator.WorkerActed
	path := "/workers" + part(c.Worker) + map[bool]string{false: "/drain", true: "/undrain"}[c.Undo]
	err := c.act(call{method: http.MethodPost, path: path}, &after, func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
		return operator.DrainWorker(ctx, tx, c.Worker, c.Undo)
	}, func(ctx context.Context, tx *db.Tx) (err error) {
		after, err = operator.WorkerAfter(ctx, tx, c.Worker)
		return err
	})
	if err != nil {
		return err
	}
	return c.print(k, field{"worker_id", c.Worker}, field{"state", after.State})
}

// workerForget is svc admin worker forget.
type workerForget struct {
	actFlags
	Worker string `arg:"" help:"Worker id."`
}

// Run removes a worker that has left. Errors: worker_not_found, worker_in_use.
func (c *workerForget) Run(k *kong.Context) error {
	err := c.act(call{method: http.MethodDelete, path: "/workers" + part(c.Worker)}, nil, func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
		return operator.ForgetWorker(ctx, tx, c.Worker)
	}, nil)
	if err != nil {
		return err
	}
	return c.print(k, field{"worker_id", c.Worker}, field{"state", operator.WorkerForgotten})
}
