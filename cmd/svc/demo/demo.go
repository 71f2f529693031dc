// Package demo has the command demo: a service, a worker and a caller in one process,
// for one job.
//
// What always holds: the service lives in a temporary folder, listens on the loopback
// only and ends with the command; only the result and the log are kept. It leaves each
// part to the package of the command that does it alone. Start reading at Run.
package demo

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/client"
	"svc.example/cmd/svc/caller"
	"svc.example/cmd/svc/farm"
	"svc.example/cmd/svc/proof"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/app"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	demoscene "svc.example/internal/ground/demo"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/render/blender"
	"svc.example/internal/render/blendfile"
	"svc.example/internal/render/framelist"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/quote"
	"svc.example/internal/work/wallet"
	"svc.example/internal/work/worker"
)

// Command starts a service in a temporary folder and renders one file with it.
//
// Its sandbox default is auto, unlike the worker's: the file is the person's own, and
// a first try must not fail for want of bubblewrap.
type Command struct {
	farm.BlenderFlags
	Sandbox string           `env:"SVC_SANDBOX" enum:"required,auto,off" default:"auto" help:"How Blender is isolated from this machine: required needs bubblewrap, auto uses what the machine has, off uses nothing."`
	File    string           `arg:"" optional:"" type:"existingfile" help:"The .blend file. Default: the demo scene."`
	Frames  caller.FrameList `env:"SVC_FRAMES" placeholder:"LIST" help:"Frames to render. Default: the first three of the scene."`
	Out     string           `env:"SVC_OUT" type:"path" default:"./demo-out" help:"Folder for the result."`
}

// demoFrames is how many frames are rendered when none are named: enough to see
// progress, and few enough for a first look on a slow machine.
const demoFrames = 3

// demoCredit is the demo wallet's balance, in cents. It pays for 10000 frames, the most
// that one job can have.
const demoCredit = 10000

// Run takes one job all the way: inspect, price, pay, render, package, verify. Exit
// codes are those of svc render. A second Ctrl-C ends the program at once and may
// leave the temporary folder.
func (c *Command) Run(k *kong.Context) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	data, err := os.MkdirTemp("", "svc-demo-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(data) }()
	file, err := c.scene(data)
	if err != nil {
		return err
	}
	// The service's log goes to a file: between the steps it would bury them.
	if err := os.MkdirAll(c.Out, 0o755); err != nil {
		return err
	}
	logFile, err := os.Create(filepath.Join(c.Out, "service.log"))
	if err != nil {
		return err
	}
	defer func() { _ = logFile.Close() }()

	listening := make(chan string, 1)
	service, err := c.open(ctx, k, app.Config{
		Listen: "127.0.0.1:0", Data: data, Log: slog.New(slog.NewTextHandler(logFile, nil)),
		Announce: func(address string) { listening <- address },
	})
	if err != nil {
		return err
	}
	defer func() { _ = service.Close() }()
	key, err := makeWorkspace(ctx, service)
	if err != nil {
		return err
	}
	serving, stopServing := context.WithCancel(ctx)
	served := make(chan error, 1)
	go func() { served <- service.Serve(serving) }()
	select {
	case address := <-listening:
		terminal.Printf(k.Stdout, "service   %s (its log: %s)", address, logFile.Name())
		err = c.render(serving, k, address, key, file, served)
	case err = <-served: // it ended before it listened
		served <- nil // for the receive below
	}
	stopServing()
	<-served
	return proof.WithExitCode(err)
}

// scene is the path of the file to render: the given one, or otherwise the demo scene,
// which it writes into folder.
func (c *Command) scene(folder string) (path string, err error) {
	if c.File != "" {
		return c.File, nil
	}
	path = filepath.Join(folder, demoscene.Filename)
	return path, os.WriteFile(path, demoscene.Scene(), 0o600)
}

// open opens a service with a worker inside, under the published rate limits, so that
// the demo behaves like a real service. The caller closes it.
func (c *Command) open(ctx context.Context, k *kong.Context, cfg app.Config) (*app.App, error) {
	renderer, err := c.FindBlender(ctx, farm.SandboxFlags{Sandbox: c.Sandbox}, cfg.Log)
	if err != nil {
		return nil, err
	}
	c.printAllowances(k, renderer)
	cfg.Embedded = &app.EmbeddedWorker{
		Renderer: renderer, Device: blender.Device(c.Device), Denoise: blender.Denoise(c.Denoise), AllowBlenderVersion: c.AllowBlenderVersion,
	}
	cfg.Limit(ratelimit.Policy{PerMinute: contract.RatePerMinute, Burst: contract.RateBurst})
	return app.Open(ctx, cfg)
}

// printAllowances prints what this run uses, and each promise of the service that its
// flags relax. The receipt records the same.
func (c *Command) printAllowances(k *kong.Context, renderer worker.Blender) {
	terminal.Printf(k.Stdout, "blender   %s", renderer.Path)
	terminal.Printf(k.Stdout, "sandbox   %s", renderer.Sandbox.Report())
	if c.AllowBlenderVersion {
		terminal.Printf(k.Stdout, "note      --allow-blender-version: Blender may have another version than the contract's; the receipt states it")
	}
	if c.Device == "cpu" {
		terminal.Printf(k.Stdout, "note      --device cpu: rendering on the CPU; the receipt states it")
	}
	if c.Denoise == "off" {
		terminal.Printf(k.Stdout, "note      --denoise off: the scene's denoising is disabled; the receipt states it")
	}
}

// makeWorkspace makes a workspace with money and returns the secret of an agent key. It
// writes to the database directly, as svc admin does.
func makeWorkspace(ctx context.Context, service *app.App) (agentKey string, err error) {
	err = service.DB.Write(ctx, func(tx *db.Tx) error {
		p, err := identity.CreateWorkspace(ctx, tx, "demo@localhost")
		if err != nil {
			return err
		}
		key, err := identity.CreateAgentKey(ctx, tx, p.WorkspaceID, identity.AgentTerms{Name: "demo"})
		if err != nil {
			return err
		}
		agentKey = key.Secret
		return wallet.Credit(ctx, tx, p.WorkspaceID, "demo", demoCredit)
	})
	return agentKey, err
}

// render is svc render against the demo's own service, with the price accepted: no real
// money is spent. When the service ends unexpectedly, the wait ends with its error,
// instead of running into the client's retries.
func (c *Command) render(ctx context.Context, k *kong.Context, address, key, file string, served chan error) error {
	api, err := client.New(address, key)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		err := <-served
		served <- err // Run receives it once more
		cancel(fmt.Errorf("the service ended: %w", err))
	}()
	frames, err := c.frames(file)
	if err != nil {
		return err
	}
	result, err := caller.Run(ctx, caller.Options{
		Client: api, Server: address, File: file, Frames: frames, AllowMissing: true, Folder: filepath.Join(c.Out, time.Now().Format("20060102-150405")),
		Accept: func(context.Context, caller.Offer) error { return nil }, Display: terminal.NewDisplay(k.Stdout, time.Now),
	})
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	if err == nil {
		result.Print(k.Stdout)
		c.printNext(k)
	}
	return err
}

// printNext says how to continue, with the program as it was called and the flags that
// this machine needed.
func (c *Command) printNext(k *kong.Context) {
	flags := ""
	if c.Device == "cpu" {
		flags += " --device cpu"
	}
	if c.AllowBlenderVersion {
		flags += " --allow-blender-version"
	}
	if c.Denoise == "off" {
		flags += " --denoise off"
	}
	table := terminal.NewTable(k.Stdout)
	table.Row("next", "a scene of yours, in the same way:")
	table.Row("", os.Args[0]+" demo scene.blend --frames 1-5"+flags)
	table.Row("", "a service that stays; it says what to do next:")
	table.Row("", os.Args[0]+" serve --sandbox "+c.Sandbox+flags)
	_ = table.Flush() // a closed standard output has no reader
}

// frames are those of --frames, or otherwise the first few of the scene's range. If the
// file or its range is not usable, the zero value leaves the range to the service,
// whose refusal explains more.
func (c *Command) frames(path string) (caller.FrameList, error) {
	if c.Frames != "" {
		return c.Frames, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	facts, err := blendfile.Inspect(file, blendfile.Options{})
	if err != nil || facts.Scene == nil {
		return "", nil
	}
	scene := quote.Frames{Start: facts.Scene.FrameStart, End: facts.Scene.FrameEnd, Step: max(1, facts.Scene.FrameStep)}
	scene.End = min(scene.End, max(scene.Start, 1)+(demoFrames-1)*scene.Step)
	resolved, _, err := quote.RequestedFrames{}.Resolve(scene)
	if err != nil {
		return "", nil
	}
	return caller.FrameList(framelist.Range{First: resolved.Start, Last: resolved.End, Step: resolved.Step}.String()), nil
}
