// Command svc is the whole product in one binary: the service, its workers, and
// the tools to use, check and operate it.
//
// This folder only reads the command line and turns the result into an exit code. The commands are
// grouped in packages by the people who type them: operator (serve, admin, openapi), farm (worker,
// bench), caller (render, rerender, look, inspect, diff), account (jobs, job, cancel, download, preview,
// wallet, keys, open, listen, status), profile (login, logout, config), proof (verify, log),
// mcpbridge (mcp), completion and demo. terminal is what all of them print with; profile finds
// server and key for all commands that call a service; failure says what went wrong; manual prints
// the reference.
//
// What always holds: a mistake on the command line exits with 2; a command's result
// goes to standard output and its log to standard error; no secret needs to be on a
// command line. Start reading at program.
package main

//go:generate go run . docs cli ../../docs

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"strings"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/account"
	"svc.example/cmd/svc/caller"
	"svc.example/cmd/svc/completion"
	"svc.example/cmd/svc/demo"
	"svc.example/cmd/svc/failure"
	"svc.example/cmd/svc/farm"
	"svc.example/cmd/svc/manual"
	"svc.example/cmd/svc/mcpbridge"
	"svc.example/cmd/svc/operator"
	"svc.example/cmd/svc/profile"
	"svc.example/cmd/svc/proof"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/plaintext"
	"svc.example/internal/ground/redact"
	"svc.example/internal/ground/sandbox"
)

// program is the command line. Every flag is also an SVC_* environment variable,
// unless its tag says otherwise, and a member of the operator's configuration file.
// The command line wins over the environment, and the environment over the file.
type program struct {
	File    kong.ConfigFlag  `name:"config" help:"Read flags from this JSON file. Names are written with _ instead of -." placeholder:"FILE" env:"SVC_CONFIG"`
	Version kong.VersionFlag `env:"-" help:"Print the version of this program and of the interface that it serves."`

	Render   caller.Render    `cmd:"" group:"Render scenes" help:"Render a .blend: get a price, confirm it, follow the job, download and verify the frames."`
	Look     caller.Look      `cmd:"" group:"Render scenes" help:"Render a small test frame for free."`
	Inspect  caller.Inspect   `cmd:"" group:"Render scenes" help:"Show what a .blend contains and what it would cost, without a service."`
	Diff     caller.Diff      `cmd:"" group:"Render scenes" help:"Show which frames changed between two revisions of a scene, and why, without a service."`
	Pack     caller.Pack      `cmd:"" group:"Render scenes" help:"Write a .blend and the files that its scene uses into one archive."`
	Rerender caller.Rerender  `cmd:"" group:"Render scenes" help:"Render frames of an ended job again, as a new job with its own price."`
	Download account.Download `cmd:"" group:"Render scenes" help:"Download and verify the frames of a completed job."`
	Preview  account.Preview  `cmd:"" group:"Render scenes" help:"Save or show a small picture of one frame or of all frames."`
	Movie    account.Movie    `cmd:"" group:"Render scenes" help:"Save the frames of a completed job as a movie."`

	Sync     caller.Sync      `cmd:"" group:"Jobs and account" help:"Keep a folder up to date with a job's frames while it renders."`
	Jobs     account.Jobs     `cmd:"" group:"Jobs and account" help:"List the workspace's jobs, newest first."`
	Job      account.Job      `cmd:"" group:"Jobs and account" help:"Show everything about one job."`
	Cancel   account.Cancel   `cmd:"" group:"Jobs and account" help:"Cancel a job that no worker has claimed. It costs nothing."`
	Pause    account.Pause    `cmd:"" group:"Jobs and account" help:"Pause a job. Frames that are being rendered are finished."`
	Resume   account.Resume   `cmd:"" group:"Jobs and account" help:"Resume a paused job."`
	Priority account.Priority `cmd:"" group:"Jobs and account" help:"Put a job ahead of or behind the others of its workspace."`
	Tag      account.Tag      `cmd:"" group:"Jobs and account" help:"Give a job tags, by which you find it again."`
	Wallet   account.Wallet   `cmd:"" group:"Jobs and account" help:"Show the balance and the ledger."`
	Keys     account.Keys     `cmd:"" group:"Jobs and account" help:"Manage the workspace's agent keys, with an account key."`
	Login    profile.Login    `cmd:"" group:"Jobs and account" help:"Sign in to a service with a browser instead of a key."`
	Logout   profile.Logout   `cmd:"" group:"Jobs and account" help:"Sign out and revoke the key of svc login."`
	Config   profile.Config   `cmd:"" group:"Jobs and account" help:"Save a service's address and keys in profiles for later commands."`
	Status   account.Status   `cmd:"" group:"Jobs and account" help:"Show the service's version and limits, and the owner of your key."`
	Open     account.Open     `cmd:"" group:"Jobs and account" help:"Open a job's proof page, or the service, in the browser."`

	Verify     proof.Verify     `cmd:"" group:"Check results" help:"Check a folder of frames and its receipt, or a release of svc, without a network."`
	FrameProof proof.FrameProof `cmd:"" group:"Check results" help:"Extract the proof of one frame from a receipt, to share it without the other frames."`
	Log        proof.Log        `cmd:"" group:"Check results" help:"Check the log of receipts."`

	MCP     mcpbridge.Command `cmd:"" group:"Build on the service" name:"mcp" help:"Serve the tools of a service to an agent on this machine, over standard input and output."`
	Listen  account.Listen    `cmd:"" group:"Build on the service" help:"Forward the workspace's webhooks to a receiver on this machine."`
	Trigger account.Trigger   `cmd:"" group:"Build on the service" help:"Bring about an outcome in test mode, with the events that a real job would send."`
	OpenAPI operator.OpenAPI  `cmd:"" group:"Build on the service" name:"openapi" help:"Print the OpenAPI document that the service serves."`

	Demo      demo.Command   `cmd:"" group:"Run a service" help:"Run one job from price to verified receipt on this machine, without any setup."`
	Serve     operator.Serve `cmd:"" group:"Run a service" help:"Run the service, with a worker inside unless --worker none is given."`
	Worker    farm.Workers   `cmd:"" group:"Run a service" help:"Run a worker for a service elsewhere, or check that this machine can."`
	Autoscale farm.Autoscale `cmd:"" group:"Run a service" help:"Start as many workers as there is work for, with Slurm, Kubernetes or another engine."`
	Bench     farm.Bench     `cmd:"" group:"Run a service" help:"Measure this machine's GPU with the benchmark scenes, for the leaderboard."`
	Admin     operator.Admin `cmd:"" group:"Run a service" help:"Manage workspaces, wallets, keys and workers, and audit the store."`

	Help        manual.HelpCommand `cmd:"" group:"More" help:"Show the help of a command, or the list of all commands."`
	Completion  completion.Command `cmd:"" group:"More" help:"Print a shell completion script."`
	ShowVersion showVersion        `cmd:"" group:"More" name:"version" help:"Print the version of this program and of the interface that it serves."`

	Complete completion.Complete `cmd:"" hidden:"" help:"Print what the last word of a command line can become."`
	Docs     manual.Command      `cmd:"" hidden:"" help:"Print the reference of the command line."`
}

// main parses the command line and runs one command. kong prints an error and ends
// the process with the exit code that the error carries, 1 when it carries none.
func main() {
	if len(os.Args) > 1 && os.Args[1] == sandbox.ExecName {
		// A worker starts its own binary again inside the sandbox. This must come
		// before the parser: the arguments there are not a command line.
		os.Exit(sandbox.Exec(os.Args[2:]))
	}
	// Standard output belongs to a command's result, which scripts read.
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, nil)))
	out := terminal.NewOutput(os.Stdout)
	parser := newParser("/etc/svc/config.json", out, os.Exit)
	if len(os.Args) == 1 {
		manual.PrintStart(out, terminal.Width(out))
		parser.Exit(terminal.ExitOK)
	}
	ctx, err := parser.Parse(os.Args[1:])
	if err != nil {
		if mistake, ok := errors.AsType[*kong.ParseError](err); ok {
			manual.PrintUsage(os.Stderr, mistake.Context) // the full help would push the error off the screen
		}
		parser.FatalIfErrorf(shown(usageError(err)))
	}
	ctx.FatalIfErrorf(finish(ctx, ctx.Run()))
	parser.Exit(terminal.ExitOK)
}

// defaults are what the help and the flags' defaults name. state is the folder that systemd gives
// a unit with StateDirectory=, "" elsewhere: a service keeps its data there unless the
// command line, the environment or the configuration file says otherwise.
func defaults(state string) kong.Vars {
	return kong.Vars{"version": version(), "data": cmp.Or(state, "./data")}
}

// newParser makes the parser of the command line. system is where the operator's
// configuration file lies that --config need not name; it may be missing. What is printed
// goes to out: a process that could not print its result fails. exit ends the process.
func newParser(system string, out *terminal.Output, exit func(code int)) *kong.Kong {
	return newParserFor(system, os.Getenv("STATE_DIRECTORY"), out, exit)
}

// newParserFor is newParser in a unit of systemd that has a folder for its state.
func newParserFor(system, state string, out *terminal.Output, exit func(code int)) *kong.Kong {
	parser, err := kong.New(&program{},
		kong.Name("svc"),
		kong.Description("Renders Blender Cycles scenes at a locked price and proves what it did."),
		kong.DefaultEnvars("SVC"), // every flag is an environment variable too
		kong.Help(manual.Help),
		kong.Writers(out, os.Stderr),
		kong.Exit(func(code int) {
			if err := out.Err(); err != nil && code == terminal.ExitOK {
				fmt.Fprintln(os.Stderr, "svc: error: print the result:", err)
				code = terminal.ExitFailure
			}
			exit(code)
		}),
		kong.Configuration(readConfig), // of --config
		kong.Resolvers(systemConfig(system)...),
		defaults(state),
	)
	if err != nil {
		panic(err) // the structs above do not fit kong
	}
	return parser
}

// finish turns the error of a command into what is shown. With --json the failure is an
// object on standard output, unless the command has printed one or nothing can be printed there.
func finish(ctx *kong.Context, err error) error {
	if err == nil {
		return nil
	}
	if out, ok := ctx.Stdout.(*terminal.Output); asJSON(ctx) && !terminal.WasTold(err) && (!ok || out.Err() == nil) {
		err = errors.Join(err, terminal.PrintJSON(ctx.Stdout, failure.Object{Error: failure.Of(err)}))
	}
	return shown(failure.Words(err))
}

// asJSON reports whether the command prints an object for programs.
func asJSON(ctx *kong.Context) bool {
	for _, f := range ctx.Flags() {
		if f.Name == "json" {
			wanted, _ := ctx.FlagValue(f).(bool)
			return wanted
		}
	}
	return false
}

// shownError is an error whose text a terminal can show, whatever names it quotes, and
// that reveals no secret: a key may have been typed in the wrong place. Its own line
// ends stay: some messages have several lines. On a terminal they are wrapped; kong
// indents them.
type shownError struct{ error }

func (e shownError) Error() string {
	// kong lists choices without blanks, and "" for none: no line could be broken there.
	text := strings.NewReplacer(`one of "",`, `one of `, `","`, `", "`).Replace(e.error.Error())
	if flags, ok := strings.CutPrefix(text, "missing flags: "); ok {
		text = "missing flags: " + placeholder.ReplaceAllString(flags, "")
	}
	for _, words := range parserWords {
		text = words.of.ReplaceAllString(text, words.said)
	}
	text = plaintext.Lines(redact.Text(text))
	columns := terminal.Width(os.Stderr)
	if columns == 0 {
		return text
	}
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, terminal.Wrap(line, columns-len("svc: error: "), 0)...)
	}
	return strings.Join(lines, "\n")
}

// parserWords are what kong says about mistakes, and what people read instead.
var parserWords = []struct {
	of   *regexp.Regexp
	said string
}{
	{regexp.MustCompile(`:? expected \S+ value but got "EOL"( \([^)]*\))?`), " needs a value"},
	{regexp.MustCompile(`: expected \S+ value but got "([^"]*)" \((?:short|long) flag\); perhaps try (--[^=]+)="[^"]*"\?`), `: "$1" reads like another flag; if it is the value, write $2=$1`},
	{regexp.MustCompile(`: expected (?:a valid \d+ bit int|int value) but got`), " must be a whole number, but got"},
	{regexp.MustCompile(`: expected duration value but got`), " must be a time such as 90s or 24h, but got"},
	{regexp.MustCompile(`^expected "(<.*>)"$`), "missing argument: $1"},
}

// placeholder is what kong writes behind a flag that is missing.
var placeholder = regexp.MustCompile(`=[A-Z][A-Z0-9-]*(?:,\.\.\.)?`)

// Unwrap keeps the exit code that the error carries.
func (e shownError) Unwrap() error { return e.error }

func shown(err error) error {
	if err == nil {
		return nil
	}
	return shownError{err}
}

// usageError gives every mistake on the command line the exit code 2. kong's own
// errors carry 80 instead. An error that already has a code of ours keeps it.
func usageError(err error) error {
	if _, ok := errors.AsType[*terminal.ExitError](err); ok {
		return err
	}
	return terminal.WrongUsage(err)
}
