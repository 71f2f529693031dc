// Package farm has the commands of the people who provide machines: worker, its
// doctor, and bench.
//
// What always holds: all three find Blender and open the sandbox in the same way, so
// what doctor reports is what worker does; none of them opens a database or a store of
// the service. Package worker renders. Start reading at Workers; blender_flags.go has
// the flags that the commands share.
package farm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strconv"
	"time"

	"svc.example/cmd/svc/profile"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/sandbox"
	"svc.example/internal/ground/tracing"
	"svc.example/internal/render/blender"
	"svc.example/internal/render/gpu"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/synthetic"
	"svc.example/internal/work/worker"
	engines "svc.example/internal/work/worker/blenders"
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
	Cache  int64  `env:"SVC_CACHE_BYTES" placeholder:"BYTES" help:"Most bytes of job files to keep there. Default: 20 GiB, or a quarter of the free disk if that is less."`
	// The default is safe everywhere: how many are good depends on scenes and memory.
	BlendersPerDevice blenders `env:"SVC_BLENDERS_PER_DEVICE" default:"1" placeholder:"auto|N" help:"Blenders that render on the device at the same time, 1 to 16. More keep the device busy if frames are light, but each needs memory for its scene. auto adapts to idle time and free memory."`
	Cores             int      `env:"SVC_CORES" placeholder:"N" help:"Processor cores for Blender and for compressing pictures. Default: all, or each worker's share with --all-gpus."`
	AllGPUs           bool     `name:"all-gpus" env:"SVC_ALL_GPUS" help:"Run one worker per NVIDIA GPU of this machine. Each gets a share of the memory and of the processor cores, close to its card if possible."`
	// Like the frames before it, a scene that is kept takes memory of machine and device.
	KeepScene time.Duration `env:"SVC_KEEP_SCENE" default:"5m" help:"How long an idle worker keeps a scene open for the next job with the same files. A frame of another scene closes it at once."`
	// On the processor a picture takes no more memory whole than in tiles; a device needs it.
	WholePicture terminal.Size `env:"SVC_WHOLE_PICTURE" default:"1GiB" placeholder:"SIZE" help:"Pictures up to this size in memory, including passes, are rendered without tiles if tiles change no pixel. 1KiB keeps the tiles of every scene."`
	endFlags
	syntheticFlags
	terminal.LogFlags
}

// Validate refuses what no worker can do.
func (c *workerRun) Validate() error {
	switch {
	case c.Cores < 0:
		return errors.New("--cores is 1 or more")
	case c.KeepScene < 0:
		return errors.New("--keep-scene must not be negative")
	case c.AllGPUs && (c.Device != string(blender.GPU) || c.Renderer != "blender"):
		return errors.New("--all-gpus renders with Blender on GPUs: leave --device and --renderer out")
	}
	return c.endFlags.Validate()
}

// blenders is how many Blenders render on a device, or engines.Auto.
type blenders int

// UnmarshalText reads auto or a number that a device can feed.
func (b *blenders) UnmarshalText(text []byte) error {
	if string(text) == "auto" {
		*b = engines.Auto
		return nil
	}
	n, err := strconv.Atoi(string(text))
	if err != nil || n < 1 || n > engines.Most {
		return fmt.Errorf("it is auto or 1 to %d", engines.Most)
	}
	*b = blenders(n)
	return nil
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
		WholePicture: int64(c.WholePicture),
		Blenders:     int(c.BlendersPerDevice), ExitIdle: c.ExitIdle, Drain: drain, Grace: max(c.StopGrace, time.Nanosecond), KeepScene: max(c.KeepScene, time.Nanosecond), // 0 would mean the default
		Farm: farmapi.NewClient(c.Server, key), Cores: c.Cores, WorkDir: c.Work, CacheBytes: c.Cache, Name: name, Log: slog.Default(),
		Device: blender.Device(c.Device), Denoise: blender.Denoise(c.Denoise), AllowBlenderVersion: c.AllowBlenderVersion, Jitter: rand.Float64,
	}
	if c.AllGPUs {
		return c.runEach(ctx, config)
	}
	if config.Renderer, err = c.newRenderer(ctx); err != nil {
		return err
	}
	return worker.New(config).Run(ctx)
}

// runEach runs a worker for each GPU that CUDA_VISIBLE_DEVICES leaves. Errors: no card is
// found, and those of the workers.
func (c *workerRun) runEach(ctx context.Context, config worker.Config) error {
	var machine gpu.Machine
	cards, err := machine.Cards(ctx, os.Getenv(gpu.VisibleDevices))
	if err != nil {
		return fmt.Errorf("find the GPUs of --all-gpus, which are NVIDIA's; for others, start a worker for each: %w", err)
	}
	if c.BlenderMemory == 0 {
		c.BlenderMemory = terminal.Size(sandbox.DefaultLimits().Memory / int64(len(cards)))
	}
	b, err := c.FindBlender(ctx, c.SandboxFlags, slog.Default())
	if err != nil {
		return err
	}
	shares := gpu.Shares(cards, gpu.Own())
	for _, s := range shares {
		slog.Info("a worker for a GPU", "gpu", s.Index, "name", s.Name, "uuid", s.UUID, "numa_node", s.Node, "cores", cmp.Or(c.Cores, s.Cores), "pinned_to", s.Pin, "blender_memory", int64(c.BlenderMemory))
	}
	return worker.RunEach(ctx, config, worker.OfCards(b, machine, shares, c.Cores))
}

// workerName is the name shown to the operator: the given one, or otherwise the
// host's.
func workerName(given string) (string, error) {
	if given != "" {
		return given, nil
	}
	return os.Hostname()
}
