package main

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
	"svc.example/internal/app"
	"svc.example/internal/ground/blender"
	"svc.example/internal/ground/blendfile"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/demo"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/quote"
	"svc.example/internal/work/wallet"
	"svc.example/internal/work/worker"
)

// demoCmd starts a service of its own in a temporary folder and has one file
// rendered by it.
type demoCmd struct {
	blenderFlags
	Sandbox string     `env:"SVC_SANDBOX" enum:"required,auto,off" default:"auto" help:"How Blender is kept apart from this machine: required, by what there is, or not."`
	File    string     `arg:"" optional:"" type:"existingfile" help:"A .blend; without it, the demo scene."`
	Frames  frameRange `env:"SVC_FRAMES" placeholder:"A-B" help:"Frames to render; without it, the first three of the scene's."`
	Out     string     `env:"SVC_OUT" type:"path" default:"./demo-out" help:"Folder for the result."`
}

// demoFrames is how many frames are rendered when none are named.
const demoFrames = 3

// demoCredit is what the demo's wallet has, in cents: enough for any job.
const demoCredit = 10000

// Run goes the main way once: inspect, price, pay, render, pack, verify.
func (c *demoCmd) Run(k *kong.Context) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	data, err := os.MkdirTemp("", "svc-demo-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(data) }()
	file := c.File
	if file == "" {
		file = filepath.Join(data, demo.Filename)
		if err := os.WriteFile(file, demo.Scene(), 0o600); err != nil {
			return err
		}
	}
	// Kept beside the result: what a demo says to itself is not what it shows.
	if err := os.MkdirAll(c.Out, 0o755); err != nil {
		return err
	}
	logPath := filepath.Join(c.Out, "service.log")
	logFile, err := os.Create(logPath)
	if err != nil {
		return err
	}
	defer func() { _ = logFile.Close() }()
	log := slog.New(slog.NewTextHandler(logFile, nil))
	renderer, err := c.renderer(ctx, sandboxFlags{Sandbox: c.Sandbox}, log)
	if err != nil {
		return err
	}
	c.tellAllowances(k, renderer)

	listening := make(chan string, 1)
	cfg := app.Config{
		Listen: "127.0.0.1:0", Data: data, Log: log, Announce: func(address string) { listening <- address },
		Embedded: &app.EmbeddedWorker{
			Renderer: renderer, Device: blender.Device(c.Device), Denoise: blender.Denoise(c.Denoise), AllowBlenderVersion: c.AllowBlenderVersion,
		},
	}
	if err := published().limit(&cfg); err != nil {
		return err
	}
	house, err := app.Open(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { _ = house.Close() }()
	key, err := demoWorkspace(ctx, house)
	if err != nil {
		return err
	}
	serveCtx, stopServing := context.WithCancel(ctx)
	served := make(chan error, 1)
	go func() { served <- house.Serve(serveCtx) }()
	select {
	case address := <-listening:
		fmt.Fprintf(k.Stdout, "service   %s (its log: %s)\n", address, logPath)
		err = c.render(serveCtx, k, address, key, file, served)
	case err = <-served:
		served <- nil
	}
	stopServing()
	<-served
	return withExitCode(err)
}

// tellAllowances says what the demo was let off, since results then are not
// what the product promises.
func (c *demoCmd) tellAllowances(k *kong.Context, renderer worker.Blender) {
	fmt.Fprintf(k.Stdout, "blender   %s\n", renderer.Path)
	fmt.Fprintf(k.Stdout, "sandbox   %s\n", renderer.Sandbox.Report())
	if c.AllowBlenderVersion {
		fmt.Fprintln(k.Stdout, "note      --allow-blender-version: this may be another Blender than the contract's; the receipt says which")
	}
	if c.Device == "cpu" {
		fmt.Fprintln(k.Stdout, "note      --device cpu: rendering on the CPU; the receipt says so")
	}
	if c.Denoise == "off" {
		fmt.Fprintln(k.Stdout, "note      --denoise off: the scene's denoising is switched off; the receipt says so")
	}
}

func demoWorkspace(ctx context.Context, house *app.App) (agentKey string, err error) {
	err = house.DB.Write(ctx, func(tx *db.Tx) error {
		p, err := identity.CreateWorkspace(ctx, tx, "demo@localhost")
		if err != nil {
			return err
		}
		key, err := identity.CreateAgentKey(ctx, tx, p.WorkspaceID, "demo", nil)
		if err != nil {
			return err
		}
		agentKey = key.Secret
		return wallet.Credit(ctx, tx, p.WorkspaceID, "demo", demoCredit)
	})
	return agentKey, err
}

// render is svc render against the demo's own service. A service that ends by
// itself ends it too.
func (c *demoCmd) render(ctx context.Context, k *kong.Context, address, key, file string, served chan error) error {
	api, err := client.New(address, key)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		err := <-served
		served <- err
		cancel(fmt.Errorf("the service ended: %w", err))
	}()
	frames, err := c.frames(file)
	if err != nil {
		return err
	}
	result, err := renderFile(ctx, renderOptions{
		client: api, file: file, frames: frames, folder: filepath.Join(c.Out, time.Now().Format("20060102-150405")),
		accept: func(context.Context, *client.Quote) error { return nil }, display: newDisplay(k.Stdout, time.Now),
	})
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	if err == nil {
		result.print(k.Stdout)
	}
	return err
}

// frames are those asked for, else the first few of the scene's own.
func (c *demoCmd) frames(path string) (frameRange, error) {
	if c.Frames.set {
		return c.Frames, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return frameRange{}, err
	}
	defer func() { _ = file.Close() }()
	facts, err := blendfile.Inspect(file, blendfile.Options{})
	if err != nil || facts.Scene == nil {
		return frameRange{}, nil // the service says what is wrong with it
	}
	scene := quote.Frames{Start: facts.Scene.FrameStart, End: facts.Scene.FrameEnd, Step: max(1, facts.Scene.FrameStep)}
	scene.End = min(scene.End, max(scene.Start, 1)+(demoFrames-1)*scene.Step)
	resolved, _, err := quote.Asked{}.Resolve(scene)
	if err != nil {
		return frameRange{}, nil // likewise
	}
	return frameRange{set: true, Range: client.Range{Start: resolved.Start, End: resolved.End, Step: resolved.Step}}, nil
}
