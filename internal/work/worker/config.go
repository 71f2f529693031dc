package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"runtime"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/sandbox"
	"svc.example/internal/render/blender"
	"svc.example/internal/render/gpu"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/worker/blenders"
	"svc.example/internal/work/workertags"
)

// Farm is the part of the server that a worker calls; *farmapi.Client implements it. All
// methods may be called by several goroutines at once. A refusal by the server is a
// *farmapi.Error; after any other error the worker repeats the call.
type Farm interface {
	Register(context.Context, farmapi.RegisterRequest) (farmapi.RegisterReply, error)
	Lease(context.Context, farmapi.LeaseRequest) (farmapi.LeaseReply, error)
	Heartbeat(context.Context, farmapi.HeartbeatRequest) (farmapi.HeartbeatReply, error)
	Project(ctx context.Context, workerID, jobID string) (farmapi.Project, error)
	// Part opens one part of a file; the caller closes it.
	Part(ctx context.Context, workerID, jobID, sha256 string, size int64) (io.ReadCloser, error)
	// Strip opens a strip of a frame that the worker finishes; the caller closes it.
	Strip(ctx context.Context, workerID, jobID, sha256 string, size int64) (io.ReadCloser, error)
	// Deliver may be repeated with the same result: the server keeps the first.
	Deliver(ctx context.Context, result farmapi.FrameResult, image io.Reader, outputs ...io.Reader) error
	Fail(context.Context, farmapi.FailRequest) error
	Release(context.Context, farmapi.ReleaseRequest) error
}

// Renderer starts the processes that render. Tests replace it by one that needs no
// Blender. Start is called by several goroutines at once: a spare starts during a render.
type Renderer interface {
	Start(context.Context, blender.Options) (Session, error)
}

// Session is one started process. *blender.Process implements it and documents the
// contract of each method. Open, Play and the two renders never overlap. Info may be called at
// any time, also after Close. The caller calls Close exactly once, also after an error.
type Session interface {
	Info() blender.Info
	Open(ctx context.Context, in blender.Input) (blender.Opened, error)
	Play(ctx context.Context, frame int) (played int, err error)
	Render(ctx context.Context, frame int, progress func(float64)) (blender.Frame, error)
	RenderFresh(ctx context.Context, frame int, progress func(float64)) (blender.Frame, error)
	Close() error
}

// MovieMaker is a Session that encodes movies; blender.Process documents it.
type MovieMaker interface {
	Movie(ctx context.Context, m blender.Movie) (path string, err error)
}

// Measuring is a Session that measures the bands of a preview; blender.Process documents it.
type Measuring interface {
	Bands(ctx context.Context, frame, bands int) ([]float64, error)
}

// Blender is the Renderer that starts real Blender processes.
type Blender struct {
	Path    string           // see blender.Find
	Sandbox *sandbox.Sandbox // nil runs without a sandbox
	Threads int              // this and the others see blender.Options
	CPUs    []int
	Card    string
}

// Start starts a Blender process.
func (b Blender) Start(ctx context.Context, opts blender.Options) (Session, error) {
	opts.Path, opts.Sandbox, opts.Threads, opts.CPUs, opts.Card = b.Path, b.Sandbox, b.Threads, b.CPUs, b.Card
	p, err := blender.Start(ctx, opts)
	if err != nil {
		return nil, err // a nil *Process in a Session would not equal nil
	}
	return blenderSession{p, opts.Temp}, nil
}

// Config holds a worker's dependencies and settings.
type Config struct {
	Farm     Farm
	Renderer Renderer
	// WorkDir is the worker's own folder, created when missing. It serves one worker at a
	// time and keeps undelivered results, input files and kernels across runs.
	WorkDir string
	Name    string // shown to the operator; it need not be unique
	// Tags are what workspaces can require of the worker. Reserved has it take nothing of
	// workspaces that require none.
	Tags     workertags.Set
	Reserved bool
	Log      *slog.Logger

	Device  blender.Device  // GPU when empty
	Denoise blender.Denoise // Keep when empty
	// AllowBlenderVersion admits a Blender of another version than the contract's.
	AllowBlenderVersion bool

	// CacheBytes bounds the job files kept in WorkDir. 0 means 20 GiB, or a quarter
	// of the disk's free space at the start where that is less.
	CacheBytes int64

	// KeepScene is how long an idle worker keeps a scene open for the next job of the same
	// files; 5 min when 0. It may take as long as a poll more.
	KeepScene time.Duration

	// WholePicture is how many bytes a picture with its passes may take to be rendered whole
	// where the scene has tiles that change nothing: on the device too. 1 GiB when 0.
	WholePicture int64

	// Cores is how many processor cores pack a picture; all when 0.
	Cores int

	// Blenders is how many Blenders render on the device at once, at most blenders.Most; 1 when
	// 0. Each has a scene of its own in memory. When one has too little, a single one
	//    continues.
	// blenders.Auto begins with one and follows what the device is busy with.
	Blenders int
	// Free measures for Auto the memory that is left; nil measures this machine's.
	Free func(context.Context) (blenders.Free, error)
	// Busy measures for Auto in which part of the last moment a GPU computed, 0 to 1; nil
	// measures this machine's.
	Busy func(context.Context) (float64, error)

	// Grace is how long a running frame may continue after Run is told to stop; 6 s
	// when 0. After it, results have DeliveryGrace more to be sent.
	Grace time.Duration
	// ExitIdle, when above 0, ends Run once the worker has had no frame for so long and has
	// no result left to send: whoever started it needs the machine back.
	ExitIdle time.Duration
	// Drain, when not nil and closed, has the worker take no more frames, finish the one
	// that renders, however long that takes, and end Run.
	Drain <-chan struct{}

	// Jitter returns a number in [0, 1) that spreads retries; random when nil.
	// It must be safe for concurrent use.
	Jitter func() float64
}

// DeliveryGrace is how long results are still sent after the stop and the end of the
// last frame. Later results stay in the outbox for the next run.
const DeliveryGrace = 3 * time.Second

// defaultGrace and DeliveryGrace together stay below the ten seconds that container
// engines commonly wait between the first signal and the kill.
const defaultGrace = 6 * time.Second

// defaultKeepScene is longer than it takes to check a picture, change the order and send it.
const defaultKeepScene = 5 * time.Minute

// defaultWholePicture has room for 8K with a few passes.
const defaultWholePicture = 1 << 30

// withDefaults fills in the zero fields. The default of CacheBytes depends on the disk, so
// openCache chooses it.
func (c Config) withDefaults() Config {
	if c.Device == "" {
		c.Device = blender.GPU
	}
	if c.Denoise == "" {
		c.Denoise = blender.Keep
	}
	if c.Jitter == nil {
		c.Jitter = rand.Float64
	}
	if c.KeepScene == 0 {
		c.KeepScene = defaultKeepScene
	}
	if c.WholePicture == 0 {
		c.WholePicture = defaultWholePicture
	}
	if c.Blenders == 0 {
		c.Blenders = 1
	}
	if c.Free == nil {
		c.Free = blenders.FreeOf(c.Device, gpu.Machine{}, os.Getenv(gpu.VisibleDevices), 1)
	}
	if c.Busy == nil {
		c.Busy = blenders.BusyOf(gpu.Machine{}, os.Getenv(gpu.VisibleDevices))
	}
	if c.Cores == 0 {
		c.Cores = runtime.GOMAXPROCS(0)
	}
	if c.Grace == 0 {
		c.Grace = defaultGrace
	}
	return c
}

// Reasons to refuse a Blender, for errors.Is. The text names the flag that admits it.
var (
	ErrVersion = errors.New("not the contract's Blender version")
	ErrNoGPU   = errors.New("no GPU that Cycles can render on")
)

// Admit decides whether this Blender may work here, and logs what a flag admitted. It
// returns the worker's registration. Errors: ErrVersion, ErrNoGPU. The device and the
// versions that it returns are those of info, never those of the flags: a receipt names
// what rendered. A synthetic renderer is always admitted here; the server decides whether
// it takes one.
func (c Config) Admit(info blender.Info) (farmapi.RegisterRequest, error) {
	if info.Synthetic {
		c.Log.Warn("nothing is rendered here: the renderer is synthetic, and every job that it touches says so")
		_, name, _ := info.Choose(blender.CPU)
		return farmapi.RegisterRequest{
			Name: c.Name, Renderer: contract.SyntheticRenderer, BlenderVersion: info.Version, BlenderBuildHash: info.BuildHash,
			Device: "CPU", DeviceName: name, Denoise: string(c.Denoise), Tags: c.Tags, Reserved: c.Reserved,
		}, nil
	}
	if info.Version != contract.BlenderVersion {
		if !c.AllowBlenderVersion {
			return farmapi.RegisterRequest{}, fmt.Errorf("%w: this is %s, %s is wanted; scripts/install-blender gets it, --allow-blender-version works with this one",
				ErrVersion, info.Version, contract.BlenderVersion)
		}
		c.Log.Warn("rendering with another Blender than the contract's, as --allow-blender-version says",
			"version", info.Version, "contract", contract.BlenderVersion)
	}
	device, name, ok := info.Choose(c.Device)
	if !ok {
		return farmapi.RegisterRequest{}, fmt.Errorf("%w; --device cpu renders on the CPU, which every result then says", ErrNoGPU)
	}
	if c.Device == blender.CPU {
		c.Log.Warn("rendering on the CPU, as --device cpu says", "device", name)
	}
	denoise := string(c.Denoise)
	if c.Denoise == blender.Off {
		c.Log.Warn("denoising is switched off in every scene, as --denoise off says")
	} else if !info.Denoiser {
		denoise = farmapi.DenoiseNone
		c.Log.Warn("this Blender has no denoiser: scenes that ask for one fail; --denoise off renders them without")
	}
	if len(info.Lacks) > 0 {
		c.Log.Warn("this Blender is built without parts that scenes may need: other workers get those scenes", "lacks", info.Lacks)
	}
	return farmapi.RegisterRequest{
		Name: c.Name, Renderer: contract.RendererID, BlenderVersion: info.Version, BlenderBuildHash: info.BuildHash,
		Device: device, DeviceName: name, Denoise: denoise, Sandbox: info.Sandbox, Colors: info.Colors, Lacks: info.Lacks, Tags: c.Tags, Reserved: c.Reserved,
	}, nil
}
