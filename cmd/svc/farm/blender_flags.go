package farm

import (
	"context"
	"log/slog"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/sandbox"
	"svc.example/internal/render/blender"
	"svc.example/internal/work/worker"
)

// BlenderFlags configure how a worker renders. serve, demo, worker and bench share them.
type BlenderFlags struct {
	Device              string `group:"Common" env:"SVC_DEVICE" enum:"gpu,cpu" default:"gpu" help:"Device to render on. There is no fallback from one to the other."`
	Blender             string `group:"Common" env:"SVC_BLENDER" placeholder:"PATH" help:"Blender to run. Default: the one that scripts/install-blender installed, or the one on PATH."`
	AllowBlenderVersion bool   `group:"Rendering" env:"SVC_ALLOW_BLENDER_VERSION" help:"Accept a different Blender version than the contract's."`
	Denoise             string `group:"Rendering" env:"SVC_DENOISE" enum:"keep,off" default:"keep" help:"off switches denoising off in all scenes. The receipt records it."`
}

// SandboxFlags configure how Blender is isolated from the machine (docs/sandbox.md).
type SandboxFlags struct {
	Sandbox       string        `group:"Rendering" env:"SVC_SANDBOX" enum:"required,auto,off" default:"required" help:"How Blender is isolated from this machine: required needs bubblewrap, auto uses what the machine has, off uses nothing."`
	BlenderMemory terminal.Size `group:"Rendering" env:"SVC_BLENDER_MEMORY" placeholder:"SIZE" help:"Most memory that one Blender may use, such as 24GiB. Default: seven eighths of the machine's memory."`
	BlenderDisk   terminal.Size `group:"Rendering" env:"SVC_BLENDER_DISK" placeholder:"SIZE" default:"20GiB" help:"Most disk space that one Blender may use at a time, for temporary files and pictures."`
}

// minDisk is the least that a frame of a small picture takes, in bytes.
const minDisk = 64 << 20

// minMemory is the least that Blender starts in, in bytes. A smaller bound is a typing
// error, and would show only as jobs that run out of memory.
const minMemory = 256 << 20

// open opens the sandbox that the flags select and logs which layers work. A layer that
// is missing is a warning, except under required, where bubblewrap is a must. The
// caller owns the sandbox.
func (f SandboxFlags) open(ctx context.Context, log *slog.Logger) (*sandbox.Sandbox, error) {
	if f.BlenderMemory != 0 && f.BlenderMemory < minMemory {
		return nil, terminal.WrongUsagef("--blender-memory is less than 256MiB, the least that Blender starts in")
	}
	if f.BlenderDisk != 0 && f.BlenderDisk < minDisk {
		return nil, terminal.WrongUsagef("--blender-disk is less than 64MiB, the least that a frame needs")
	}
	self, err := sandbox.Self()
	if err != nil {
		return nil, err
	}
	box, err := sandbox.Open(ctx, sandbox.Config{
		Mode: sandbox.Mode(f.Sandbox), Limits: sandbox.Limits{Memory: int64(f.BlenderMemory), Disk: int64(f.BlenderDisk)}, Self: self,
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

// FindBlender opens the sandbox and finds the Blender that the flags select. It starts
// no Blender. The error of a missing Blender says how to install one. The sandbox comes
// first: if there can be none, the user should not install a Blender in vain.
func (f BlenderFlags) FindBlender(ctx context.Context, s SandboxFlags, log *slog.Logger) (worker.Blender, error) {
	box, err := s.open(ctx, log)
	if err != nil {
		return worker.Blender{}, err
	}
	path, err := blender.Find(f.Blender, blender.DataHome())
	return worker.Blender{Path: path, Sandbox: box}, err
}
