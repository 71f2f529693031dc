// Package farm has the commands of whoever lends a machine: worker, its doctor, and
// bench.
//
// What always holds: all three find Blender and open the sandbox in the same way, so
// what doctor reports is what worker does. It leaves the rendering to package worker.
// Start reading at Workers; blender.go has the flags that the commands share.
package farm

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"os"
	"time"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/blender"
	"svc.example/internal/ground/farmapi"
	"svc.example/internal/work/synthetic"
	"svc.example/internal/work/worker"
)

// Workers are the commands of a worker.
type Workers struct {
	Run    workerRun `cmd:"" default:"withargs" help:"Render for a service elsewhere. The word run may be left out."`
	Doctor doctor    `cmd:"" help:"Say what a worker would do on this machine, each thing ok or with what to do."`
}

type workerRun struct {
	BlenderFlags
	SandboxFlags
	Server string `env:"SVC_SERVER" required:"" help:"Address of the service."`
	Key    string `env:"SVC_NODE_KEY" required:"" help:"Node key, svc_node_…, from svc admin key create --kind node."`
	Name   string `env:"SVC_WORKER_NAME" help:"Name shown to the operator; the host's name when not given."`
	Work   string `env:"SVC_WORK" type:"path" default:"./worker" help:"The worker's own folder; one worker at a time."`
	Cache  int64  `env:"SVC_CACHE_BYTES" placeholder:"BYTES" help:"Bound on the job files kept there; 20 GiB, or a quarter of the free disk, when not given."`
	syntheticFlags
}

// syntheticFlags make a worker that renders nothing.
type syntheticFlags struct {
	Renderer           string                      `env:"SVC_RENDERER" enum:"blender,synthetic" default:"blender" help:"synthetic paints pictures without Blender, where svc serve --allow-synthetic lets it."`
	SyntheticFrameTime time.Duration               `env:"SVC_SYNTHETIC_FRAME_TIME" default:"1s" help:"How long a synthetic frame takes."`
	SyntheticJitter    float64                     `env:"SVC_SYNTHETIC_JITTER" default:"0.2" help:"Share by which it may take less or more."`
	SyntheticFault     map[synthetic.Fault]float64 `env:"SVC_SYNTHETIC_FAULT" placeholder:"FAULT=SHARE" help:"Share of frames that crash, hang, or come black, half or small."`
}

// choose gives the renderer that the flags mean.
func (c *workerRun) choose(ctx context.Context) (worker.Renderer, error) {
	if c.Renderer == "blender" {
		return c.FindBlender(ctx, c.SandboxFlags, slog.Default())
	}
	r := synthetic.Renderer{FrameTime: c.SyntheticFrameTime, Jitter: c.SyntheticJitter, Faults: c.SyntheticFault}
	return r, r.Check()
}

// Run renders until a signal comes: then the running frame is finished or given
// back. A second signal, two seconds later or more, ends it at once.
func (c *workerRun) Run() error {
	ctx, stop := terminal.UntilSignal()
	defer stop()
	renderer, err := c.choose(ctx)
	if err != nil {
		return err
	}
	name, err := workerName(c.Name)
	if err != nil {
		return err
	}
	return worker.New(worker.Config{
		Farm: farmapi.NewClient(c.Server, c.Key), Renderer: renderer, WorkDir: c.Work, CacheBytes: c.Cache, Name: name, Log: slog.Default(),
		Device: blender.Device(c.Device), Denoise: blender.Denoise(c.Denoise), AllowBlenderVersion: c.AllowBlenderVersion, Jitter: rand.Float64,
	}).Run(ctx)
}

// workerName is what the operator is shown: the name given, else the host's.
func workerName(given string) (string, error) {
	if given != "" {
		return given, nil
	}
	return os.Hostname()
}
