package caller

import (
	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/profile"
	"svc.example/cmd/svc/terminal"
)

// Rerender orders frames of an ended job once more: a new job over the same upload.
type Rerender struct {
	profile.Flags
	Job          string    `arg:"" help:"The ended job, JOB-…"`
	Frames       FrameList `env:"SVC_FRAMES" required:"" placeholder:"LIST" help:"Frames of that job to render again, as in 7, 3,7-9 or 10-100x5."`
	Out          string    `env:"SVC_OUT" type:"path" placeholder:"DIR" help:"Folder for the frames, the ZIP and the receipt. Default: named after the file. It holds one job; another job goes to DIR/JOB-…"`
	Yes          bool      `short:"y" env:"SVC_YES" help:"Accept the price and the terms without asking."`
	MaxPrice     *Price    `env:"SVC_MAX_PRICE" placeholder:"USD" help:"The most that the job may cost, in dollars, such as 2.50. Above it nothing is started, not even with --yes."`
	Again        bool      `env:"-" help:"Order again, and pay again, where DIR has the same rerender already."`
	Tag          []string  `env:"-" placeholder:"TAG" help:"A tag of the new job; repeat it for several. Without any, it has the tags of the ended job."`
	AllowMissing bool      `env:"SVC_ALLOW_MISSING" help:"Render even if files that the scene uses are missing."`
	JSON         bool      `name:"json" env:"SVC_JSON" help:"Print one JSON object at the end; everything else goes to standard error."`
}

// Help is printed below the flags.
func (Rerender) Help() string {
	return "The ended job and its folder do not change. The file is not uploaded again: the service keeps it for 7 days after the last job that used it. " +
		"If the command is interrupted, run it again: it resumes and never pays twice. " +
		terminal.ExitHelp(terminal.ExitBadSignature, terminal.ExitBadArtifact, terminal.ExitNotInLog, terminal.ExitMissingFiles, terminal.ExitInterrupted)
}

// Run renders the frames again, by the same steps as svc render.
func (c *Rerender) Run(app *kong.Context) error {
	return order(app, c.Flags, c.JSON, c.Yes, Options{
		RerenderOf: c.Job, Frames: c.Frames, Tags: c.Tag, MaxCents: (*int64)(c.MaxPrice), Folder: c.Out, Again: c.Again, AllowMissing: c.AllowMissing,
	})
}
