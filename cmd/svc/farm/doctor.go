package farm

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os/signal"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/profile"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/render/blender"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/worker/selfcheck"
)

// doctor runs the checks of a worker on this machine without registering as one.
type doctor struct {
	BlenderFlags
	SandboxFlags
	Server string `env:"SVC_SERVER" help:"Address of the service. Default: none is called."`
	Key    string `env:"SVC_KEY,SVC_NODE_KEY" help:"Node key to check with the service."`
	Work   string `env:"SVC_WORK" type:"path" default:"./worker" help:"Folder of the worker."`
	Equal  string `env:"SVC_EQUAL" placeholder:"FILE" help:"Render two rows of the built-in scene and compare them, to the bit, with those of other machines with the same Blender and device. 'service' asks the service (--server, --key) for them; workers that begin in the same work folder send theirs. A FILE keeps them without a service: each machine adds its own, and you copy FILE from one to the next."`
	JSON   bool   `name:"json" env:"SVC_JSON" help:"Print one JSON object instead of lines."`
}

// Help is printed below the flags.
func (doctor) Help() string {
	return "Runs the same checks as a worker before its first job, and renders one frame. Exit codes: 0 a worker works here, perhaps with warnings; 1 it does not."
}

// diagnosis is the form of --json. Findings are in the order of the checks.
type diagnosis struct {
	OK       bool                `json:"ok"`
	Findings []selfcheck.Finding `json:"findings"`
}

// errUnfit means that at least one check failed.
var errUnfit = errors.New("a worker would not work here: fix the checks marked FAIL")

// Run makes the checks and prints them. A missing Blender or sandbox is a finding like
// any other and not an error at once: the person gets the whole list in one run.
func (c *doctor) Run(app *kong.Context) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if c.Equal != "" && c.Equal != selfcheck.Service {
		c.Equal = kong.ExpandPath(c.Equal)
	}
	e := selfcheck.Examination{
		Device: blender.Device(c.Device), Denoise: blender.Denoise(c.Denoise), AllowBlenderVersion: c.AllowBlenderVersion,
		WorkDir: c.Work, Server: c.Server, Equal: c.Equal, Now: time.Now,
	}
	key, err := profile.Node(c.Key)
	if err != nil {
		return err
	}
	if c.Server != "" {
		if err := profile.CheckServer(c.Server); err != nil {
			return err
		}
	}
	if key != "" {
		e.Farm = farmapi.NewClient(c.Server, key)
	}
	e.Blender, e.BlenderErr = blender.Find(c.Blender, blender.DataHome())
	// The findings report the sandbox; a log line would say it twice.
	e.Sandbox, e.SandboxErr = c.open(ctx, slog.New(slog.DiscardHandler))
	found := diagnosis{OK: true, Findings: e.Examine(ctx)}
	for _, f := range found.Findings {
		found.OK = found.OK && f.Verdict != selfcheck.Fail
	}
	if !found.OK {
		err = errUnfit
	}
	if c.JSON {
		return terminal.Told(errors.Join(terminal.PrintJSON(app.Stdout, found), err))
	}
	found.print(app.Stdout)
	return err
}

// print writes a line for each check, and below it what to do about a problem.
func (d diagnosis) print(w io.Writer) {
	table := terminal.NewTable(w)
	for _, f := range d.Findings {
		table.Row(string(f.Verdict), f.Name, f.Found)
		if f.Do != "" {
			table.Row("", "", f.Do)
		}
	}
	_ = table.Flush() // a closed standard output has no reader
}
