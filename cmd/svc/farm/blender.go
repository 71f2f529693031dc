package farm

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/blender"
	"svc.example/internal/ground/sandbox"
	"svc.example/internal/work/worker"
)

// BlenderFlags say how a worker renders.
type BlenderFlags struct {
	Device              string `env:"SVC_DEVICE" enum:"gpu,cpu" default:"gpu" help:"What to render on."`
	Blender             string `env:"SVC_BLENDER" placeholder:"PATH" help:"The blender to run. Without it: the one scripts/install-blender got, else that on PATH."`
	AllowBlenderVersion bool   `env:"SVC_ALLOW_BLENDER_VERSION" help:"Work with another Blender than the contract's."`
	Denoise             string `env:"SVC_DENOISE" enum:"keep,off" default:"keep" help:"off switches the scenes' denoising off, and the receipt says so."`
}

// SandboxFlags say how Blender is kept apart from the machine.
type SandboxFlags struct {
	Sandbox       string     `env:"SVC_SANDBOX" enum:"required,auto,off" default:"required" help:"How Blender is kept apart from this machine: required starts none without bubblewrap, auto takes what there is, off takes nothing."`
	BlenderMemory memorySize `env:"SVC_BLENDER_MEMORY" placeholder:"SIZE" help:"Most memory that one Blender may take, such as 24GiB; without it, seven eighths of the machine's."`
}

// memorySize is an amount of memory on the command line.
type memorySize int64

// UnmarshalText reads a number with one of the units KiB to TiB, or none.
func (m *memorySize) UnmarshalText(text []byte) error {
	number, shift := string(text), 0
	for i, unit := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if rest, ok := strings.CutSuffix(number, unit); ok {
			number, shift = strings.TrimSpace(rest), 10*(i+1)
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 1 || n > 1<<62>>shift {
		return fmt.Errorf("%q is not a size such as 24GiB", text)
	}
	*m = memorySize(n << shift)
	return nil
}

// leastMemory is less than any Blender starts in.
const leastMemory = 256 << 20

// open opens the sandbox that the flags mean and logs what is in force.
func (f SandboxFlags) open(ctx context.Context, log *slog.Logger) (*sandbox.Sandbox, error) {
	if f.BlenderMemory != 0 && f.BlenderMemory < leastMemory {
		return nil, terminal.WrongUsagef("--blender-memory is less than the 256MiB that Blender starts in")
	}
	self, err := sandbox.Self()
	if err != nil {
		return nil, err
	}
	box, err := sandbox.Open(ctx, sandbox.Config{
		Mode: sandbox.Mode(f.Sandbox), Limits: sandbox.Limits{Memory: int64(f.BlenderMemory)}, Self: self,
	})
	if err != nil {
		return nil, err
	}
	report := box.Report()
	level := slog.LevelInfo
	if !report.Complete() {
		level = slog.LevelWarn
	}
	log.Log(ctx, level, "sandbox", "mode", report.Mode, "in_force", report.String(), "lacking", report.Lacking)
	return box, nil
}

// FindBlender finds the Blender that the flags mean, and its sandbox.
func (f BlenderFlags) FindBlender(ctx context.Context, s SandboxFlags, log *slog.Logger) (worker.Blender, error) {
	path, err := blender.Find(f.Blender, blender.DataHome())
	if err != nil {
		return worker.Blender{}, err
	}
	box, err := s.open(ctx, log)
	return worker.Blender{Path: path, Sandbox: box}, err
}
