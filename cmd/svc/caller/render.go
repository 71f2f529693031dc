// Package caller has the commands of people who have files rendered: render, rerender,
// look and inspect.
//
// What always holds: money is spent only after the price was accepted; a command that
// ends at any instant, and is run again, continues the same job and never pays twice;
// a folder holds one job; frames are unpacked only after the receipt has proven them.
// Package client calls the API, and package proof makes the checks. Start reading at
// Run; order.go prices and starts, job_file.go keeps which folder has which job,
// fetch.go gets the result.
package caller

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/failure"
	"svc.example/cmd/svc/profile"
	"svc.example/cmd/svc/proof"
	"svc.example/cmd/svc/terminal"
)

// Render uploads a file, shows its price, renders it, and fetches and verifies the
// result. It takes either a file, or a job that was started before.
type Render struct {
	profile.Flags
	FileFlags
	File         string    `arg:"" optional:"" type:"existingfile" help:"The .blend file."`
	Frames       FrameList `env:"SVC_FRAMES" placeholder:"LIST" help:"Frames to render, as in 7, 1-20, 10-100x5 or 1,3,5-9. Without it, the scene's frame range. A list that is no single range is several jobs, with one price."`
	Out          string    `env:"SVC_OUT" type:"path" placeholder:"DIR" help:"Folder for the frames, the ZIP and the receipt. Without it, one named after the file. It holds one job; another job goes to DIR/JOB-…"`
	Yes          bool      `short:"y" env:"SVC_YES" help:"Accept the price and the terms without being asked."`
	Again        bool      `env:"-" help:"Order anew, and pay again, where DIR has the same render already."`
	AllowMissing bool      `env:"SVC_ALLOW_MISSING" help:"Render also where files that the scene uses are missing."`
	DryRun       bool      `env:"-" help:"Show what would be sent and what it would cost, and end. Needs no service and no key."`
	JSON         bool      `name:"json" env:"SVC_JSON" help:"Print one JSON object at the end; everything else goes to standard error."`
	Job          string    `env:"-" placeholder:"JOB-…" help:"Follow and fetch a job that is already started, instead of starting one."`
}

// Help is printed below the flags.
func (Render) Help() string {
	return "The images, libraries, caches and other files that the scene uses are found on this disk and sent with it; what the service has already is not sent again. " +
		"Before anything is spent it asks, and look shows one frame for free. The contact sheet and the loop of a job lie beside its frames, as contact-sheet.jpg and loop.webp. " +
		"The same command again goes on where the last one ended, however it ended, and never pays twice: job.json in DIR has the quote and the job. " +
		terminal.ExitHelp(terminal.ExitBadSignature, terminal.ExitBadArtifact, terminal.ExitNotInLog, terminal.ExitMissingFiles, terminal.ExitInterrupted)
}

// Run renders a file, or follows a job.
func (c *Render) Run(app *kong.Context) error {
	if (c.File == "") == (c.Job == "") {
		return terminal.WrongUsage(errors.New("give either a FILE to render or a --job to follow"))
	}
	if c.Job != "" && (c.Frames.Ranges != nil || c.Again || c.DryRun || c.FileFlags != FileFlags{}) {
		return terminal.WrongUsage(errors.New("--frames, --again, --dry-run, --project-root and --no-files cannot be used with --job: a started job keeps its frames and files"))
	}
	if c.DryRun {
		return c.dryRun(app)
	}
	return order(app, c.Flags, c.JSON, c.Yes, Options{
		File: c.File, Files: c.FileFlags, JobID: c.Job, Frames: c.Frames, Folder: c.Out, Again: c.Again, AllowMissing: c.AllowMissing,
	})
}

// order runs the options of a command for the service that its flags name. The first
// Ctrl-C stops waiting and leaves the render running, since it is already paid for. With
// asJSON, standard output carries the one object only, and everything for people goes to
// standard error.
func order(app *kong.Context, flags profile.Flags, asJSON, yes bool, o Options) error {
	service, err := flags.Service(profile.AgentKey)
	if err != nil {
		return err
	}
	human := app.Stdout // the stream that people read
	if asJSON {
		human = app.Stderr
	}
	o.Server, o.Display, o.Human = service.Server, terminal.NewDisplay(human, time.Now), human
	o.Accept = terms{yes: yes, in: os.Stdin, out: human}.accept
	if o.Client, err = service.Client(profile.RetriesOn(service.Server, human, o.Display)...); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	results, err := Run(ctx, o)
	return report(app, human, asJSON, results, explain(ctx, service.Server, results, err))
}

// explain turns a failure into what the person needs to know next. An unknown start
// keeps its own text even after Ctrl-C, because "nothing was spent" would be a guess.
func explain(ctx context.Context, server string, results []*Result, err error) error {
	_, unknownStart := errors.AsType[*unknownStartError](err)
	_, missing := errors.AsType[*missingError](err)
	switch {
	case missing:
		return terminal.Exit(terminal.ExitMissingFiles, err)
	case err == nil || unknownStart || ctx.Err() == nil:
		return err
	}
	return terminal.Exit(terminal.ExitInterrupted, interrupted(server, results))
}

// interrupted is the error after Ctrl-C: what is lost, which is nothing, and how to
// continue. The key is not in the command that it prints, because terminals keep
// history.
func interrupted(server string, results []*Result) error {
	if len(results) == 0 {
		return errors.New("stopped before the job was started: nothing was spent. Run the same command again to start anew")
	}
	text := "stopped; the render goes on at the service and nothing is lost. Run the same command again to follow and fetch it, or from any folder:"
	for _, r := range results {
		if r.JobID != "" && !r.OK {
			text += fmt.Sprintf("\n  svc render --job %s --server %s --out %s", r.JobID, server, quoted(r.Folder))
		}
	}
	return errors.New(text)
}

// summary is the form of --json for a command of several jobs.
type summary struct {
	OK           bool             `json:"ok"`
	ChargedCents int64            `json:"charged_cents"`
	Jobs         []*Result        `json:"jobs"`
	Error        *failure.Failure `json:"error"`
}

// report prints the outcome for people or for programs. With --json the object is
// printed after a failure too: a JobID in it means that money may be reserved.
func report(app *kong.Context, human io.Writer, asJSON bool, results []*Result, err error) error {
	if err == nil {
		Print(human, results)
	}
	if asJSON {
		err = terminal.Told(errors.Join(terminal.PrintJSON(app.Stdout, shownAsJSON(results, err)), err))
	}
	return proof.WithExitCode(err)
}

// shownAsJSON is the one object of --json: the result of one job, or a summary of
// several.
func shownAsJSON(results []*Result, err error) any {
	if len(results) > 1 {
		all := summary{OK: err == nil, Jobs: results, Error: failureOf(err)}
		for _, r := range results {
			all.ChargedCents += r.ChargedCents
		}
		return all
	}
	one := newResult(&jobFile{}, false)
	if len(results) == 1 {
		one = results[0]
	}
	one.OK, one.Error = err == nil, failureOf(err)
	return one
}

// failureOf is an error in the form of --json; null for none.
func failureOf(err error) *failure.Failure {
	if err == nil {
		return nil
	}
	f := failure.Of(proof.WithExitCode(err))
	return &f
}
