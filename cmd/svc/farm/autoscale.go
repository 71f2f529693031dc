package farm

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/profile"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/render/buildoption"
	"svc.example/internal/work/autoscale"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/workertags"
)

// Autoscale is svc autoscale.
type Autoscale struct {
	Server   string        `env:"SVC_SERVER" required:"" help:"Address of the service."`
	Key      string        `env:"SVC_KEY,SVC_NODE_KEY" required:"" help:"Node key of the workers to start, svc_node_…"`
	Engine   string        `env:"SVC_AUTOSCALE_ENGINE" enum:"slurm,kubernetes,command" required:"" help:"How to start workers: slurm (sbatch), kubernetes (kubectl) or command."`
	Job      string        `env:"SVC_AUTOSCALE_JOB" type:"existingfile" placeholder:"FILE" help:"Batch script for slurm, or manifest of a Job for kubernetes."`
	Name     string        `env:"SVC_AUTOSCALE_NAME" default:"svc-worker" help:"Name that identifies the workers' jobs: the Slurm job name, or the label svc-autoscale."`
	Min      int           `env:"SVC_AUTOSCALE_MIN" default:"0" help:"Fewest workers."`
	Max      int           `env:"SVC_AUTOSCALE_MAX" required:"" help:"Most workers."`
	Work     time.Duration `name:"work-per-worker" env:"SVC_AUTOSCALE_WORK" default:"10m" help:"Start one worker per this much rendering, for jobs whose finished frames tell how long the others take."`
	Frames   int           `name:"frames-per-worker" env:"SVC_AUTOSCALE_FRAMES" default:"20" placeholder:"N" help:"Start one worker per this many frames, for jobs without a finished frame."`
	Lacks    []string      `env:"SVC_AUTOSCALE_LACKS" enum:"alembic,usd,osl,openvdb,movies" placeholder:"PART" help:"Parts that the workers' Blender was built without (${enum}). No workers are started for frames that need them. svc worker doctor lists them."`
	Tag      []string      `env:"SVC_AUTOSCALE_TAGS" placeholder:"NAME" help:"Tags of the workers (svc worker run --tag). No workers are started for workspaces that require another one."`
	Reserved bool          `env:"SVC_AUTOSCALE_RESERVED" help:"The workers are reserved (svc worker run --reserved): none are started for workspaces that require no tag."`
	Share    float64       `name:"workspace-share" env:"SVC_AUTOSCALE_SHARE" default:"1" placeholder:"PART" help:"Largest share of --max for the frames of one workspace, such as 0.5."`
	Step     int           `env:"SVC_AUTOSCALE_STEP" default:"10" placeholder:"N" help:"Most workers to start in one step."`
	Every    time.Duration `env:"SVC_AUTOSCALE_EVERY" default:"15s" help:"Pause between steps, at least 1s."`
	DryRun   bool          `env:"-" help:"Only print what would be started."`
	Listen   string        `name:"metrics-listen" env:"SVC_METRICS_LISTEN" placeholder:"ADDR" help:"Serve /metrics for Prometheus, with /livez and /readyz, on this address, to anyone who can reach it. Default: off."`
	Once     bool          `env:"-" help:"Take one step, print it and exit."`
	JSON     bool          `name:"json" env:"SVC_JSON" help:"With --once, print one JSON object."`
	commandEngine
	terminal.LogFlags
}

// commandEngine are the programs of the engine command. Words are split at blanks.
type commandEngine struct {
	List   string `name:"list-command" env:"SVC_AUTOSCALE_LIST" placeholder:"WORDS" help:"For the engine command: prints one line per worker with its id and state (pending or running)."`
	Start  string `name:"start-command" env:"SVC_AUTOSCALE_START" placeholder:"WORDS" help:"For the engine command: starts one more worker."`
	Cancel string `name:"cancel-command" env:"SVC_AUTOSCALE_CANCEL" placeholder:"WORDS" help:"For the engine command: cancels the pending workers whose ids follow."`
}

// engine makes the engine that the flags select.
func (c *Autoscale) engine() (autoscale.Engine, error) {
	if c.Engine == "command" {
		e := autoscale.Command{ListWords: strings.Fields(c.commandEngine.List), StartWords: strings.Fields(c.commandEngine.Start), CancelWords: strings.Fields(c.commandEngine.Cancel)}
		if len(e.ListWords) == 0 || len(e.StartWords) == 0 || len(e.CancelWords) == 0 {
			return nil, errors.New("the engine command needs --list-command, --start-command and --cancel-command")
		}
		return e, nil
	}
	if c.Job == "" {
		return nil, fmt.Errorf("the engine %s needs --job", c.Engine)
	}
	if c.Engine == "slurm" {
		return autoscale.Slurm{Script: c.Job, Name: c.Name}, nil
	}
	return autoscale.Kubernetes{Manifest: c.Job, Name: c.Name}, nil
}

// Run keeps the number of workers near the wanted one until a signal comes. Running
// workers then continue.
func (c *Autoscale) Run(k *kong.Context) error {
	c.LogFlags.Start(os.Stderr)
	ctx, stop := terminal.UntilSignal()
	defer stop()
	key, err := profile.Node(c.Key)
	if err == nil {
		err = profile.CheckServer(c.Server)
	}
	if err != nil {
		return err
	}
	policy := autoscale.Policy{Min: c.Min, Max: c.Max, WorkPerWorker: c.Work, FramesPerWorker: c.Frames, Share: c.Share, Most: c.Step, Reserved: c.Reserved}
	if policy.Tags, err = workertags.Of(c.Tag); err != nil {
		return terminal.WrongUsage(fmt.Errorf("--tag: %w", err))
	}
	for _, part := range c.Lacks {
		policy.Lacks = append(policy.Lacks, buildoption.Option(part))
	}
	engine, err := c.engine()
	if err == nil {
		err = policy.Check()
	}
	if err == nil && c.Every < time.Second {
		err = fmt.Errorf("--every is %s; it must be 1s or more", c.Every)
	}
	if err != nil {
		return terminal.WrongUsage(err)
	}
	s := &autoscale.Scaler{
		Demand: farmapi.NewClient(c.Server, key).Demand, Engine: engine, Policy: policy, Every: c.Every, DryRun: c.DryRun, Log: slog.Default(),
	}
	if !c.Once {
		stop, err := c.serveMetrics(s)
		if err != nil {
			return err
		}
		defer stop()
		s.Run(ctx)
		return nil
	}
	step, err := s.Step(ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		return terminal.PrintJSON(k.Stdout, map[string]any{"ok": true, "step": step, "dry_run": c.DryRun})
	}
	asked := "asked for"
	if c.DryRun {
		asked = "would ask for"
	}
	terminal.Printf(k.Stdout, "wanted %s, running %d, pending %d; %s %d, took back %d", terminal.CountOf(step.Wanted, "worker"), step.Running, step.Pending, asked, step.Started, step.Cancelled)
	return nil
}

// serveMetrics serves the scaler's metrics, if they are to be served, until stop.
func (c *Autoscale) serveMetrics(s *autoscale.Scaler) (stop func(), err error) {
	if c.Listen == "" {
		return func() {}, nil
	}
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return nil, fmt.Errorf("listen for metrics on %s: %w", c.Listen, err)
	}
	m := autoscale.NewMetrics(c.Max)
	s.Stepped = m.Stepped
	server := &http.Server{Handler: m.Handler(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second, WriteTimeout: 30 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	slog.Info("metrics", "url", "http://"+listener.Addr().String()+"/metrics")
	return func() {
		_ = server.Close()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			slog.Error("metrics were no longer served", "err", err)
		}
	}, nil
}
