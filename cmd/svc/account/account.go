// Package account has the commands about what a workspace has at a service: its jobs,
// its money, its agent keys and its events. Most of them take either kind of key.
//
// What always holds: only cancel, pause, resume, priority, tag and keys revoke change something, and
// none of them spends; a list fits the terminal and shows strangers' text escaped;
// --json prints one object on standard output. It leaves the calls to package client,
// server and key to profile, and rendering to caller. One file has the commands of one
// noun. Start reading at jobs.go.
package account

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/terminal"
)

// untilSignal returns a context that ends with Ctrl-C. A second Ctrl-C ends the program
// at once. stop, deferred, gives the command's failure after a Ctrl-C the exit code of an
// interrupt.
func untilSignal(failure *error) (ctx context.Context, stop func()) {
	return untilSignalSaying(failure, "interrupted")
}

// untilSignalSaying is untilSignal with a failure that says how to continue.
func untilSignalSaying(failure *error, said string) (ctx context.Context, stop func()) {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, cancel)
	return ctx, func() {
		if *failure != nil && ctx.Err() != nil {
			*failure = terminal.Exit(terminal.ExitInterrupted, errors.New(said))
		}
		cancel()
	}
}

// output is the flag of every command that can print for programs.
type output struct {
	JSON bool `name:"json" env:"SVC_JSON" help:"Print one JSON object instead of text."`
}

// print prints value with --json, and calls text otherwise.
func (o output) print(app *kong.Context, value any, text func()) error {
	if o.JSON {
		return terminal.PrintJSON(app.Stdout, value)
	}
	text()
	return nil
}

// paging is how much of a list is shown.
type paging struct {
	Limit int  `env:"-" default:"20" help:"How many to show at most."`
	All   bool `env:"-" help:"Show all of them."`
}

// most returns the bound as package client takes it: 0 for all. A limit below 1 is a
// wrong usage.
func (p paging) most() (int, error) {
	if p.All {
		return 0, nil
	}
	if p.Limit < 1 {
		return 0, terminal.WrongUsagef("--limit is %d; it must be 1 or more, or use --all", p.Limit)
	}
	return p.Limit, nil
}
