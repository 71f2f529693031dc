package operator

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/contract"
	"svc.example/internal/render/blender"
	"svc.example/internal/work/worker"
)

// allowAll looks at this machine's Blender and relaxes the flags for --dev. It says what will
// render, on standard error, because receipts will say the same.
func (c *Serve) allowAll(ctx context.Context, k *kong.Context) error {
	path, err := blender.Find(c.Blender, blender.DataHome())
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "svc-dev-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temp) }()
	info, err := blender.Probe(ctx, path, temp)
	if err != nil {
		return err
	}
	terminal.Printf(k.Stderr, "%s", c.relax(info))
	return nil
}

// relax allows any Blender and the sandbox that this machine has. It renders on the CPU if
// Cycles finds no GPU, and without denoising if this Blender has no denoiser. It returns what
// will render.
func (c *Serve) relax(info blender.Info) string {
	c.AllowBlenderVersion = true
	if c.Sandbox == "required" {
		c.Sandbox = "auto"
	}
	if _, _, found := info.Choose(blender.GPU); !found {
		c.Device = string(blender.CPU)
	}
	denoising := ""
	if !info.Denoiser {
		c.Denoise, denoising = string(blender.Off), ", without denoising"
	}
	device, name, _ := info.Choose(blender.Device(c.Device))
	return fmt.Sprintf("DEVELOPMENT MODE (--dev): renders with Blender %s on the %s, %s%s. Pages and receipts say so. Do not sell these frames.", info.Version, device, name, denoising)
}

// notReady is why the worker inside the service cannot render, with the two ways forward.
// Any other error stays as it is.
func notReady(err error) error {
	if !errors.Is(err, worker.ErrVersion) && !errors.Is(err, worker.ErrNoGPU) && !errors.Is(err, blender.ErrNotFound) {
		return err
	}
	why := "there is no Blender"
	switch {
	case errors.Is(err, worker.ErrVersion):
		why = "its Blender is not version " + contract.BlenderVersion
	case errors.Is(err, worker.ErrNoGPU):
		why = "Blender finds no GPU that Cycles can use"
	}
	return terminal.SameExit(err, fmt.Errorf(`this machine cannot render for a service: %s.

To try svc here, with any Blender and any device:
  svc serve --dev

To run a real service, install Blender %s (scripts/install-blender) and the GPU's driver, then check:
  svc worker doctor

With --worker none the service starts without rendering, and svc worker renders on other machines`, why, contract.BlenderVersion))
}
