package farm

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/blender"
	"svc.example/internal/ground/farmapi"
	"svc.example/internal/work/benchmark"
	"svc.example/internal/work/benchmark/measure"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/worker"
)

// Bench measures this machine and submits the receipt.
type Bench struct {
	BlenderFlags
	SandboxFlags
	Server string `env:"SVC_SERVER" help:"Address of the service that takes the result; without it, nothing is sent."`
	Key    string `env:"SVC_NODE_KEY" help:"Node key to send it with, svc_node_…"`
	Name   string `env:"SVC_WORKER_NAME" help:"Name shown to the operator; the host's name when not given."`
	Work   string `env:"SVC_WORK" type:"path" default:"./worker" help:"Folder of the key that signs, the worker's own."`
	Out    string `env:"SVC_OUT" type:"path" placeholder:"FILE" help:"Keep the signed receipt in this file too."`
	JSON   bool   `name:"json" env:"SVC_JSON" help:"Print one JSON object at the end; everything else goes to standard error."`
}

// Help is shown under the flags.
func (Bench) Help() string {
	return "Renders three scenes, each for 20 seconds after a warm-up, and checks their pictures. Exit codes: 0 measured, and taken where a server is given; 1 not."
}

// errNotTaken says that the service keeps the result and shows it nowhere.
var errNotTaken = errors.New("the service does not count the result")

// benched is what came of it, and the form of --json.
type benched struct {
	Score    float64                 `json:"score"`
	Receipt  benchmark.Receipt       `json:"receipt"`
	Envelope json.RawMessage         `json:"envelope"`  // the signed receipt
	Result   *farmapi.BenchmarkReply `json:"submitted"` // null when nothing was sent
	workerID string                  // as which this machine is registered, where a server is given
	signer   receipt.PublicKey       // who signed
}

// Run measures, signs, sends and prints.
func (c *Bench) Run(app *kong.Context) error {
	if (c.Server == "") != (c.Key == "") {
		return terminal.WrongUsage(errors.New("--server and --key belong together: without both, nothing is sent"))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	people := app.Stdout
	if c.JSON {
		people = app.Stderr
	}
	done, err := c.measure(ctx, terminal.NewDisplay(people, time.Now))
	if err != nil {
		if ctx.Err() != nil {
			return errors.New("stopped before the end: nothing was measured")
		}
		return err
	}
	if err := c.sign(&done); err != nil {
		return err
	}
	// What was measured is shown even where sending it fails.
	sent := c.send(ctx, &done)
	if c.JSON {
		return errors.Join(sent, terminal.PrintJSON(app.Stdout, done))
	}
	done.print(app.Stdout, c.Server)
	return sent
}

// measure renders with a bar for each scene.
func (c *Bench) measure(ctx context.Context, to terminal.Display) (done benched, err error) {
	renderer, err := c.FindBlender(ctx, c.SandboxFlags, slog.Default())
	if err != nil {
		return done, err
	}
	name, err := workerName(c.Name)
	if err != nil {
		return done, err
	}
	temp, err := os.MkdirTemp("", "svc-bench-")
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	self := worker.Config{
		Name: name, Device: blender.Device(c.Device), Denoise: blender.Denoise(c.Denoise), AllowBlenderVersion: c.AllowBlenderVersion, Log: slog.Default(),
	}
	shown := sceneMeters{to: to}
	defer shown.end()
	admitted := false // registered once, not for each scene
	done.Receipt, err = measure.Run(ctx, measure.Config{
		Blender: blender.Options{Path: renderer.Path, Sandbox: renderer.Sandbox, Temp: temp, Device: self.Device},
		Admit: func(info blender.Info) error {
			if admitted {
				return nil
			}
			admitted = true
			request, err := self.Admit(info)
			if err != nil || c.Server == "" {
				return err
			}
			done.workerID, err = c.register(ctx, request)
			return err
		},
		Progress: shown.move, Now: time.Now,
	})
	done.Score = float64(done.Receipt.Score()) / 1000
	return done, err
}

// sceneMeters shows one meter after the other. Blender's reports come from
// another goroutine than the rest.
type sceneMeters struct {
	to    terminal.Display
	mu    sync.Mutex
	scene string
	meter terminal.Meter
}

func (s *sceneMeters) move(scene string, done, all time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if scene != s.scene {
		s.endLast()
		s.scene, s.meter = scene, s.to.Meter(scene, terminal.InTime)
	}
	s.meter.Move(done.Milliseconds(), all.Milliseconds())
}

func (s *sceneMeters) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endLast()
}

func (s *sceneMeters) endLast() {
	if s.meter != nil {
		s.meter.End()
	}
}

// sign signs with this worker's own key, made when it is not there: the service
// binds its node key to it.
func (c *Bench) sign(done *benched) error {
	if err := os.MkdirAll(c.Work, 0o700); err != nil {
		return fmt.Errorf("make the worker's folder: %w", err)
	}
	key, err := receipt.LoadOrCreateKey(filepath.Join(c.Work, "benchmark.key"), rand.Reader)
	if err != nil {
		return err
	}
	done.signer = key.Public()
	if done.Envelope, err = benchmark.Sign(done.Receipt, key); err != nil {
		return err
	}
	if c.Out == "" {
		return nil
	}
	if err := os.WriteFile(c.Out, append(done.Envelope, '\n'), 0o644); err != nil {
		return fmt.Errorf("keep the receipt: %w", err)
	}
	return nil
}

// register tells the service of this machine: before anything is measured, since a
// wrong key is better known at once.
func (c *Bench) register(ctx context.Context, request farmapi.RegisterRequest) (workerID string, err error) {
	reply, err := farmapi.NewClient(c.Server, c.Key).Register(ctx, request)
	if err != nil {
		return "", fmt.Errorf("register at %s: %w", c.Server, err)
	}
	return reply.WorkerID, nil
}

// send submits the receipt, where a server is given.
func (c *Bench) send(ctx context.Context, done *benched) error {
	if c.Server == "" {
		return nil
	}
	public, err := done.signer.PEM()
	if err != nil {
		return err
	}
	reply, err := farmapi.NewClient(c.Server, c.Key).Benchmark(ctx, farmapi.BenchmarkRequest{WorkerID: done.workerID, Envelope: done.Envelope, PublicKeyPEM: string(public)})
	if err != nil {
		return fmt.Errorf("send the receipt: %w", err)
	}
	done.Result = &reply
	if reply.Status != farmapi.BenchmarkAccepted {
		return fmt.Errorf("%w: %s: %s", errNotTaken, *reply.Reason, *reply.Detail)
	}
	return nil
}

// print is the card that people get.
func (b benched) print(w io.Writer, server string) {
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "scene\tsamples/min\tsamples\trendered\tpicture")
	for _, s := range b.Receipt.Scenes {
		picture := "as it should be"
		if !s.MatchesReference {
			picture = "WRONG"
		}
		fmt.Fprintf(table, "%s\t%.1f\t%d\t%.1f s\t%s (%.4f off)\n", s.Scene, s.SamplesPerMinute, s.Samples, s.RenderSeconds, picture, s.Difference)
	}
	fmt.Fprintln(table)
	row := func(name, format string, args ...any) {
		fmt.Fprintf(table, "%s\t%s\n", name, fmt.Sprintf(format, args...))
	}
	row("score", "%.1f (%s, %s, %s)", b.Score, b.Receipt.BenchmarkVersion, b.Receipt.SceneVersion, b.Receipt.ScoringVersion)
	row("device", "%s, %s", b.Receipt.RenderDevice, b.Receipt.DeviceName())
	row("blender", "%s (%s)", b.Receipt.BlenderVersion, b.Receipt.BlenderBuildHash)
	switch {
	case b.Result == nil && server != "":
		row("result", "not taken by %s", server)
	case b.Result == nil:
		row("result", "not sent; --server and --key send it")
	case b.Result.PublicResultURL != nil:
		row("result", "%s", *b.Result.PublicResultURL)
	default:
		row("result", "%s, kept and shown nowhere", b.Result.Status)
	}
	table.Flush()
}
