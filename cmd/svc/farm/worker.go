// Package farm has the commands of the people who provide machines: worker, its
// doctor, and bench.
//
// What always holds: all three find Blender and open the sandbox in the same way, so
// what doctor reports is what worker does; none of them opens a database or a store of
// the service. Package worker renders. Start reading at Workers; blender_flags.go has
// the flags that the commands share.
package farm

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"os"
	"time"

	"svc.example/cmd/svc/profile"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/tracing"
	"svc.example/internal/render/blender"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/synthetic"
	"svc.example/internal/work/worker"
)

// Workers are the commands under svc worker. Without a second word it is worker run.
type Workers struct {
	Run    workerRun `cmd:"" default:"withargs" help:"Render for a service elsewhere. This is the default command."`
	Doctor doctor    `cmd:"" help:"Check this machine as a worker does before its first job, and print what to fix."`
}

// workerRun is svc worker run.
type workerRun struct {
	BlenderFlags
	SandboxFlags
	Server string `env:"SVC_SERVER" required:"" help:"Address of the service."`
	Key    string `env:"SVC_KEY,SVC_NODE_KEY" required:"" help:"Node key, svc_node_…, from svc admin key create --kind node."`
	Name   string `env:"SVC_WORKER_NAME" help:"Name shown to the operator. Default: the host name."`
	Work   string `env:"SVC_WORK" type:"path" default:"./worker" help:"Folder of the worker. Only one worker at a time can use it."`
	MachineFlags
	endFlags
	syntheticFlags
	terminal.LogFlags
}

// Validate refuses what no worker can do.
func (c *workerRun) Validate() error {
	if c.AllGPUs && c.Renderer != "blender" {
		return errors.New("--all-gpus renders with Blender on GPUs: leave --device and --renderer out")
	}
	return errors.Join(c.MachineFlags.Check(c.BlenderFlags), c.endFlags.Validate())
}

// endFlags say when a worker ends that was started by an engine such as Slurm or
// Kubernetes.
type endFlags struct {
	ExitIdle  time.Duration `env:"SVC_EXIT_IDLE" placeholder:"DURATION" help:"End once no frame has come for so long, such as 10m, and every result is delivered. Without it, the worker stays."`
	DrainOn   string        `env:"SVC_DRAIN_ON" placeholder:"SIGNAL" help:"Take no more frames at this signal, such as USR1, finish the one that renders, however long it takes, and end."`
	StopGrace time.Duration `env:"SVC_STOP_GRACE" default:"6s" help:"How long a frame that ends soon may still render after TERM. Others are given back at once."`
}

// Validate refuses times that end nothing.
func (f endFlags) Validate() error {
	if f.ExitIdle < 0 || f.StopGrace < 0 {
		return errors.New("--exit-idle and --stop-grace must not be negative")
	}
	return nil
}

// syntheticFlags configure a worker that renders nothing: it measures and tests a
// service without Blender (package synthetic). A service must be started to allow it.
type syntheticFlags struct {
	Renderer           string                      `env:"SVC_RENDERER" enum:"blender,synthetic" default:"blender" help:"synthetic generates pictures without Blender, for services started with --allow-synthetic."`
	SyntheticFrameTime time.Duration               `env:"SVC_SYNTHETIC_FRAME_TIME" default:"1s" help:"How long a synthetic frame takes."`
	SyntheticJitter    float64                     `env:"SVC_SYNTHETIC_JITTER" default:"0.2" help:"Share by which it may take less or more, such as 0.2."`
	SyntheticFault     map[synthetic.Fault]float64 `env:"SVC_SYNTHETIC_FAULT" placeholder:"FAULT=SHARE" help:"Share of frames that crash, hang, or are black, half or small."`
}

// newRenderer makes the renderer that the flags select. Errors: no Blender is found,
// the sandbox cannot be opened, or a synthetic flag is out of range.
func (c *workerRun) newRenderer(ctx context.Context) (worker.Renderer, error) {
	if c.Renderer == "blender" {
		b, err := c.FindBlender(ctx, c.SandboxFlags, slog.Default())
		b.Threads = c.Cores
		return b, err
	}
	r := synthetic.Renderer{FrameTime: c.SyntheticFrameTime, Jitter: c.SyntheticJitter, Faults: c.SyntheticFault}
	return r, r.Check()
}

// Run renders until a signal comes. Then the worker finishes the running frame or
// gives it back, so that another worker need not wait for the lease to lapse. A second
// signal, two seconds later or more, ends the process at once.
func (c *workerRun) Run() error {
	c.LogFlags.Start(os.Stderr)
	ctx, stop := terminal.UntilSignal()
	defer stop()
	flush, err := tracing.Start(ctx, slog.Default(), "svc-worker")
	if err != nil {
		return terminal.WrongUsage(err)
	}
	defer flush()
	key, err := profile.Node(c.Key)
	if err != nil {
		return err
	}
	if err := profile.CheckServer(c.Server); err != nil {
		return err
	}
	name, err := workerName(c.Name)
	if err != nil {
		return err
	}
	drain, err := terminal.OnSignal(c.DrainOn)
	if err != nil {
		return terminal.WrongUsage(err)
	}
	config := worker.Config{
		ExitIdle: c.ExitIdle, Drain: drain, Grace: max(c.StopGrace, time.Nanosecond), // 0 would mean the default
		Farm: farmapi.NewClient(c.Server, key), WorkDir: c.Work, Name: name, Log: slog.Default(),
		Device: blender.Device(c.Device), Denoise: blender.Denoise(c.Denoise), AllowBlenderVersion: c.AllowBlenderVersion, Jitter: rand.Float64,
	}
	c.MachineFlags.Apply(&config)
	if c.AllGPUs {
		shares, err := c.OfCards(ctx, c.BlenderFlags, c.SandboxFlags, slog.Default())
		if err != nil {
			return err
		}
		return worker.RunEach(ctx, config, shares)
	}
	if config.Renderer, err = c.newRenderer(ctx); err != nil {
		return err
	}
	return worker.New(config).Run(ctx)
}

// workerName is the name shown to the operator: the given one, or otherwise the
// host's.
func workerName(given string) (string, error) {
	if given != "" {
		return given, nil
	}
	return os.Hostname()
}
