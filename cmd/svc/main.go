// Command svc is the whole product in one binary: the service, its workers, and
// the tools to use, check and run it.
//
// This folder only reads the command line. The commands have a package each or
// share one, by who types them: operator (serve, admin, openapi), farm (worker,
// bench), caller (render, inspect), proof (verify, log), mcpbridge (mcp) and demo.
// terminal is what all of them print with. Start reading at program.
package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/alecthomas/kong"

	"svc.example/client"
	"svc.example/cmd/svc/caller"
	"svc.example/cmd/svc/demo"
	"svc.example/cmd/svc/farm"
	"svc.example/cmd/svc/mcpbridge"
	"svc.example/cmd/svc/operator"
	"svc.example/cmd/svc/proof"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/farmapi"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/sandbox"
)

// program is the command line. Every flag is also an SVC_* environment
// variable and a member of the configuration file.
type program struct {
	Config  kong.ConfigFlag  `help:"Read flags from this JSON file too, by their names." placeholder:"FILE" env:"SVC_CONFIG"`
	Version kong.VersionFlag `env:"-" help:"Print which program this is, and the contract it keeps."`

	Serve   operator.Serve    `cmd:"" help:"Run the service, with a worker inside unless told otherwise."`
	Worker  farm.Workers      `cmd:"" help:"Run a worker for a service elsewhere, or see what it would do."`
	Bench   farm.Bench        `cmd:"" help:"Measure this machine's GPU with the benchmark's scenes, for the leaderboard."`
	Render  caller.Render     `cmd:"" help:"Have a .blend rendered: quote, ask, start, follow, download, verify."`
	Inspect caller.Inspect    `cmd:"" help:"Tell what a .blend holds and what it would cost, without a service."`
	Verify  proof.Verify      `cmd:"" help:"Check a receipt, and the ZIP it is for, without a network."`
	MCP     mcpbridge.Command `cmd:"" name:"mcp" help:"Offer a service's tools to an agent on this machine, over standard input and output."`
	Log     proof.Log         `cmd:"" help:"The log of receipts."`
	Demo    demo.Command      `cmd:"" help:"Run the whole way once, on this machine and with nothing set up."`
	OpenAPI operator.OpenAPI  `cmd:"" name:"openapi" help:"Print the OpenAPI document that the service serves."`
	Admin   operator.Admin    `cmd:"" help:"Workspaces, wallets, keys and the audit."`
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == sandbox.ExecName {
		os.Exit(sandbox.Exec(os.Args[2:])) // the inner half of a worker's sandbox
	}
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, nil)))
	parser, err := kong.New(&program{},
		kong.Name("svc"),
		kong.Description("Renders Blender Cycles scenes at a locked price and proves what it did."),
		kong.DefaultEnvars("SVC"), // every flag is an environment variable too
		kong.ShortUsageOnError(),  // the whole help would hide what is wrong
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Configuration(readConfig, "/etc/svc/config.json"),
		kong.Vars{"version": version()},
	)
	if err != nil {
		panic(err) // the structs above do not fit kong
	}
	ctx, err := parser.Parse(os.Args[1:])
	if err != nil {
		parser.FatalIfErrorf(usageError(err))
	}
	ctx.FatalIfErrorf(explained(ctx.Run()))
}

// explained puts what to do next under a refusal, whether a service sent it or
// this process made it.
func explained(err error) error {
	action := ""
	if refused, ok := errors.AsType[*client.Error](err); ok {
		action = refused.SuggestedAction
	} else if refused, ok := errors.AsType[*farmapi.Error](err); ok {
		action = refused.SuggestedAction
	} else if refused, ok := errors.AsType[*fault.Error](err); ok && refused.Code != fault.InvalidRequest { // whose message says it
		_, body := fault.Envelope(refused, "")
		action = body.Error.SuggestedAction
	}
	if action == "" {
		return err
	}
	return fmt.Errorf("%w\n%s", err, action)
}

// usageError gives every mistake on the command line the same exit code.
func usageError(err error) error {
	if _, ok := errors.AsType[*terminal.ExitError](err); ok {
		return err
	}
	return terminal.WrongUsage(err)
}
