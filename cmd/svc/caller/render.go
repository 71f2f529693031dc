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
	SettingFlags
	Scene        string    `arg:"" optional:"" type:"path" help:"The .blend file, or a folder with one."`
	OpenJD       string    `name:"openjd" env:"-" type:"existingdir" placeholder:"DIR" help:"Render what an Open Job Description bundle orders, as the Blender submitter of AWS Deadline Cloud writes it. Other flags win over the bundle."`
	Frames       FrameList `env:"SVC_FRAMES" placeholder:"LIST" help:"Frames to render, as in 7, 1-20, 10-100x5 or 1,3,5-9. Without it, the scene's frame range."`
	Out          string    `env:"SVC_OUT" type:"path" placeholder:"DIR" help:"Folder for the frames, the ZIP and the receipt. Default: named after the file. It holds one job; another job goes to DIR/JOB-…"`
	Yes          bool      `short:"y" env:"SVC_YES" help:"Accept the price and the terms without asking."`
	MaxPrice     *Price    `env:"SVC_MAX_PRICE" placeholder:"USD" help:"The most that the job may cost, in dollars, such as 2.50. Above it nothing is started, not even with --yes."`
	Again        bool      `env:"-" help:"Order again, and pay again, where DIR has the same render already."`
	Reuse        bool      `env:"SVC_REUSE" help:"Take over the frames that an earlier job of the workspace rendered and whose pictures are the same. They cost nothing."`
	Tag          []string  `env:"-" placeholder:"TAG" help:"A tag by which you find the job again, such as a shot or a client. Repeat it for several, 10 at most."`
	AllowMissing bool      `env:"SVC_ALLOW_MISSING" help:"Render even if files that the scene uses are missing."`
	DryRun       bool      `env:"-" help:"Only show what would be sent and what it would cost. Needs no service and no key."`
	JSON         bool      `name:"json" env:"SVC_JSON" help:"Print one JSON object at the end; everything else goes to standard error."`
	Job          string    `env:"-" placeholder:"JOB-…" help:"Follow and download a job that is already started instead of starting one."`
}

// Help is printed below the flags.
func (Render) Help() string {
	return "The images, libraries, caches and other files that the scene uses are found on this disk and uploaded too. Files that the service already has are not uploaded again. " +
		"You confirm the price before anything is spent, and can first see one frame for free. The job's contact sheet and loop are saved next to its frames as contact-sheet.jpg and loop.webp, and movie.mp4 if the scene's output is a movie. " +
		"If the command is interrupted, run it again: it resumes and never pays twice. job.json in DIR has the quote and the job. " +
		terminal.ExitHelp(terminal.ExitBadSignature, terminal.ExitBadArtifact, terminal.ExitNotInLog, terminal.ExitMissingFiles, terminal.ExitInterrupted)
}

// Run renders a file, or follows a job.
func (c *Render) Run(app *kong.Context) error {
	if c.OpenJD != "" {
		if c.Scene != "" || c.Job != "" {
			return terminal.WrongUsage(errors.New("--openjd names the scene: give neither a scene nor --job with it"))
		}
		if err := c.takeBundle(app.Stderr); err != nil {
			return err
		}
	}
	if c.Scene != "" && c.Job != "" {
		return terminal.WrongUsage(errors.New("give either a scene to render or a --job to follow, not both"))
	}
	if c.Scene == "" && c.Job == "" {
		return terminal.WrongUsage(errors.New("give a scene to render, a bundle with --openjd, or a --job to follow"))
	}
	if c.Job != "" && (c.Frames != "" || c.Again || c.DryRun || c.Reuse || c.Tag != nil || c.MaxPrice != nil || c.FileFlags != FileFlags{} || c.SettingFlags != SettingFlags{}) {
		return terminal.WrongUsage(errors.New("--frames, --again, --dry-run, --reuse, --tag, --max-price, --project-root, --no-files and settings such as --camera cannot be used with --job: a started job keeps its price, frames, settings and files"))
	}
	if c.DryRun {
		return c.dryRun(app)
	}
	return order(app, c.Flags, c.JSON, c.Yes, Options{
		File: c.Scene, Files: c.FileFlags, JobID: c.Job, Frames: c.Frames, Settings: c.settings(), Reuse: c.Reuse, Tags: c.Tag, MaxCents: (*int64)(c.MaxPrice), Folder: c.Out, Again: c.Again, AllowMissing: c.AllowMissing,
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
	result, err := Run(ctx, o)
	return report(app, human, asJSON, result, explain(ctx, service.Server, result, err))
}

// explain turns a failure into what the person needs to know next. An unknown start
// keeps its own text even after Ctrl-C, because "nothing was spent" would be a guess.
func explain(ctx context.Context, server string, result *Result, err error) error {
	_, unknownStart := errors.AsType[*unknownStartError](err)
	_, missing := errors.AsType[*missingError](err)
	switch {
	case missing:
		return terminal.Exit(terminal.ExitMissingFiles, err)
	case err == nil || unknownStart || ctx.Err() == nil:
		return err
	}
	return terminal.Exit(terminal.ExitInterrupted, interrupted(server, result))
}

// interrupted is the error after Ctrl-C: what happens to the job, and how to continue or
// cancel. The key is not in the commands that it prints, because terminals keep history.
func interrupted(server string, r *Result) error {
	if r.JobID == "" {
		return errors.New("stopped before the job was started: nothing was spent. Run the same command again to start over")
	}
	again := fmt.Sprintf("run the same command again, or from any folder:\n  svc render --job %s --server %s --out %s", r.JobID, server, quoted(r.Folder))
	if r.rendered {
		return errors.New("stopped; the job is rendered, and its frames stay at the service. To finish the download, " + again)
	}
	return fmt.Errorf("stopped; the service continues to render, and nothing is lost. To follow and download the job, %s\nTo cancel it, which works until a worker has taken a frame:\n  svc cancel %s --server %s", again, r.JobID, server)
}

// report prints the outcome for people or for programs. With --json the object is
// printed after a failure too: a JobID in it means that money may be reserved.
func report(app *kong.Context, human io.Writer, asJSON bool, result *Result, err error) error {
	if err == nil {
		result.Print(human)
	}
	if asJSON {
		result.OK, result.Error = err == nil, failureOf(err)
		err = terminal.Told(errors.Join(terminal.PrintJSON(app.Stdout, result), err))
	}
	return proof.WithExitCode(err)
}

// failureOf is an error in the form of --json; null for none.
func failureOf(err error) *failure.Failure {
	if err == nil {
		return nil
	}
	f := failure.Of(proof.WithExitCode(err))
	return &f
}
