package farm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"time"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/sandbox"
	"svc.example/internal/render/blender"
	"svc.example/internal/render/gpu"
	"svc.example/internal/work/worker"
	engines "svc.example/internal/work/worker/blenders"
	"svc.example/internal/work/workertags"
)

// MachineFlags configure how a worker uses its machine. worker run and serve share them.
type MachineFlags struct {
	Cache int64 `group:"Rendering" env:"SVC_CACHE_BYTES" placeholder:"BYTES" help:"Most bytes of job files to keep in the worker's folder. Default: 20 GiB, or a quarter of the free disk if that is less."`
	// The default is safe everywhere: how many are good depends on scenes and memory.
	BlendersPerDevice blenders `group:"Rendering" env:"SVC_BLENDERS_PER_DEVICE" default:"1" placeholder:"auto|N" help:"Blenders that render on the device at the same time, 1 to 16. More keep the device busy if frames are light, but each needs memory for its scene. auto adapts to idle time and free memory."`
	Cores             int      `group:"Rendering" env:"SVC_CORES" placeholder:"N" help:"Processor cores for Blender and for compressing pictures. Default: all, or each worker's share with --all-gpus."`
	AllGPUs           bool     `group:"Rendering" name:"all-gpus" env:"SVC_ALL_GPUS" help:"Run one worker per NVIDIA GPU of this machine. Each gets a share of the memory and of the processor cores, close to its card if possible."`
	Tag               []string `group:"Rendering" env:"SVC_TAGS" placeholder:"NAME" help:"A name for machines like this one, such as rtx or studio-b. Workspaces can require it (svc admin workspace tags). Repeat it for more, up to 8."`
	Reserved          bool     `group:"Rendering" env:"SVC_RESERVED" help:"Only render for workspaces that require a tag. Without it, a worker with tags renders for the others too. Needs --tag."`
	// Like the frames before it, a scene that is kept takes memory of machine and device.
	KeepScene time.Duration `group:"Rendering" env:"SVC_KEEP_SCENE" default:"5m" help:"How long an idle worker keeps a scene open for the next job with the same files. A frame of another scene closes it at once."`
	// On the processor a picture takes no more memory whole than in tiles; a device needs it.
	WholePicture terminal.Size `group:"Rendering" env:"SVC_WHOLE_PICTURE" default:"1GiB" placeholder:"SIZE" help:"Pictures up to this size in memory, including passes, are rendered without tiles if tiles change no pixel. 1KiB keeps the tiles of every scene."`
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

// Check refuses what no worker can do. It is no Validate, because a command that has several
// groups of flags would lose those of the others.
func (f MachineFlags) Check(b BlenderFlags) error {
	if _, err := workertags.Of(f.Tag); err != nil {
		return fmt.Errorf("--tag: %w", err)
	}
	switch {
	case f.Reserved && len(f.Tag) == 0:
		return errors.New("--reserved needs --tag: without tags the worker would render for nobody")
	case f.Cores < 0:
		return errors.New("--cores is 1 or more")
	case f.KeepScene < 0:
		return errors.New("--keep-scene must not be negative")
	case f.AllGPUs && b.Device != string(blender.GPU):
		return errors.New("--all-gpus renders with Blender on GPUs: leave --device and --renderer out")
	}
	return nil
}

// Apply puts the flags into the configuration of a worker, but for AllGPUs: see OfCards.
func (f MachineFlags) Apply(cfg *worker.Config) {
	cfg.CacheBytes, cfg.Blenders, cfg.Cores = f.Cache, int(f.BlendersPerDevice), f.Cores
	cfg.Tags, _ = workertags.Of(f.Tag) // Check has refused what is none
	cfg.Reserved = f.Reserved
	cfg.KeepScene, cfg.WholePicture = max(f.KeepScene, time.Nanosecond), int64(f.WholePicture) // 0 would mean the default
}

// OfCards returns a share of the machine for each GPU that CUDA_VISIBLE_DEVICES leaves. Errors: no
// card is found, and those of FindBlender.
func (f MachineFlags) OfCards(ctx context.Context, b BlenderFlags, s SandboxFlags, log *slog.Logger) ([]worker.Share, error) {
	var machine gpu.Machine
	cards, err := machine.Cards(ctx, os.Getenv(gpu.VisibleDevices))
	if err != nil {
		return nil, fmt.Errorf("find the GPUs of --all-gpus, which are NVIDIA's; for others, start a worker for each: %w", err)
	}
	if s.BlenderMemory == 0 {
		s.BlenderMemory = terminal.Size(sandbox.DefaultLimits().Memory / int64(len(cards)))
	}
	found, err := b.FindBlender(ctx, s, log)
	if err != nil {
		return nil, err
	}
	shares := gpu.Shares(cards, gpu.Own())
	for _, of := range shares {
		log.Info("a worker for a GPU", "gpu", of.Index, "name", of.Name, "uuid", of.UUID, "numa_node", of.Node, "cores", cmp.Or(f.Cores, of.Cores), "pinned_to", of.Pin, "blender_memory", int64(s.BlenderMemory))
	}
	return worker.OfCards(found, machine, shares, f.Cores), nil
}
