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
	"time"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/profile"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/ground/signingkey/keyfile"
	"svc.example/internal/render/blender"
	"svc.example/internal/work/benchmark"
	"svc.example/internal/work/benchmark/measure"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/worker"
)

// Bench measures this machine, signs the result and, where a server is given, submits
// it to that service's leaderboard (spec 4.6).
type Bench struct {
	BlenderFlags
	SandboxFlags
	Server string `env:"SVC_SERVER" help:"Address of the service to send the result to. Default: none, nothing is sent."`
	Key    string `env:"SVC_KEY,SVC_NODE_KEY" help:"Node key for sending the result, svc_node_…"`
	Name   string `env:"SVC_WORKER_NAME" help:"Name shown to the operator. Default: the host name."`
	Work   string `env:"SVC_WORK" type:"path" default:"./worker" help:"Folder of the worker, which contains its signing key."`
	Out    string `env:"SVC_OUT" type:"path" placeholder:"FILE" help:"Also write the signed receipt to this file."`
	JSON   bool   `name:"json" env:"SVC_JSON" help:"Print one JSON object at the end; everything else goes to standard error."`
}

// Help is printed below the flags.
func (Bench) Help() string {
	return "Renders three scenes for 20 seconds each after a warm-up, and checks the pictures. " +
		"With --server, the command fails if the server does not accept the result. " + terminal.ExitHelp(terminal.ExitInterrupted)
}

// errNotAccepted means that the service stored the result but does not rank it.
var errNotAccepted = errors.New("the service did not accept the result")

// benchResult is the measured result, and the form of --json.
type benchResult struct {
	Score    float64                 `json:"score"` // in points; the receipt has thousandths
	Receipt  benchmark.Receipt       `json:"receipt"`
	Envelope json.RawMessage         `json:"envelope"`  // the signed receipt
	Result   *farmapi.BenchmarkReply `json:"submitted"` // null when nothing was sent
	frame    []byte                  // the picture of the challenge
	workerID string                  // of this machine's registration; "" without a server
	signer   signingkey.Public       // of the key that signed
}

// Run measures, signs, sends and prints. A measurement takes minutes, so its result is
// printed even when sending it fails; the error then decides the exit code.
func (c *Bench) Run(app *kong.Context) error {
	if (c.Server == "") != (c.Key == "") {
		return terminal.WrongUsage(errors.New("--server and --key go together: give both or neither"))
	}
	key, err := profile.Node(c.Key)
	if err != nil {
		return err
	}
	c.Key = key
	if c.Server != "" {
		if err := profile.CheckServer(c.Server); err != nil {
			return err
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	human := app.Stdout // the stream that people read
	if c.JSON {
		human = app.Stderr
	}
	done, err := c.measure(ctx, terminal.NewDisplay(human, time.Now))
	if err != nil {
		return terminal.Interrupted(ctx, err, "there is no result, and nothing was sent")
	}
	if err := c.sign(&done); err != nil {
		return err
	}
	sendErr := c.send(ctx, &done)
	if c.JSON {
		return terminal.Told(errors.Join(sendErr, terminal.PrintJSON(app.Stdout, done)))
	}
	done.print(app.Stdout, c.Server)
	return sendErr
}

// measure renders the scenes, with a meter for each. Where a server is given, this
// machine is registered before the first scene: a wrong key or a refused Blender is
// better known now than after minutes of rendering.
func (c *Bench) measure(ctx context.Context, to terminal.Display) (done benchResult, err error) {
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
	admitted := false // Admit runs for each Blender that starts; registering once is enough
	config := measure.Config{
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
	}
	if c.Server != "" {
		config.Draw = func(ctx context.Context) (benchmark.Challenge, error) { return c.draw(ctx, done.workerID) }
	}
	done.Receipt, done.frame, err = measure.Run(ctx, config)
	done.Score = float64(done.Receipt.Score()) / 1000
	return done, err
}

// sceneMeters shows one meter after the other. The lock is needed because reports come
// from the goroutine that reads Blender's output.
type sceneMeters struct {
	to    terminal.Display
	mu    sync.Mutex
	scene string
	meter terminal.Meter
}

// move reports the progress of a scene. The first report of another scene ends the
// meter before it.
func (s *sceneMeters) move(scene string, done, all time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if scene != s.scene {
		s.endLast()
		s.scene, s.meter = scene, s.to.Meter(scene, terminal.InTime)
	}
	s.meter.Move(done.Milliseconds(), all.Milliseconds())
}

// end closes the last meter. It must run even after a failure: a bar draws until then.
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

// sign signs with this worker's own key, and makes the key when there is none. The
// service binds a node key to the first signing key that it sees with it, so the same
// folder must be used every time.
func (c *Bench) sign(done *benchResult) error {
	if err := os.MkdirAll(c.Work, 0o700); err != nil {
		return fmt.Errorf("create the worker's folder: %w", err)
	}
	key, err := keyfile.LoadOrCreate(filepath.Join(c.Work, "benchmark.key"), rand.Reader)
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
		return fmt.Errorf("write the receipt: %w", err)
	}
	return nil
}

// register announces this machine to the service and returns the id that its results
// are stored under. The error wraps the service's refusal.
func (c *Bench) register(ctx context.Context, request farmapi.RegisterRequest) (workerID string, err error) {
	reply, err := farmapi.NewClient(c.Server, c.Key).Register(ctx, request)
	if err != nil {
		return "", c.reached(fmt.Errorf("register at %s: %w", c.Server, err))
	}
	return reply.WorkerID, nil
}

// draw gets the challenge of the run. The error wraps the service's refusal.
func (c *Bench) draw(ctx context.Context, workerID string) (benchmark.Challenge, error) {
	reply, err := farmapi.NewClient(c.Server, c.Key).Challenge(ctx, farmapi.ChallengeRequest{WorkerID: workerID})
	if err != nil {
		return benchmark.Challenge{}, c.reached(fmt.Errorf("ask %s for a challenge: %w", c.Server, err))
	}
	return benchmark.Challenge(reply.Challenge), nil
}

// reached explains why the service could not be called; a refusal stays as it is.
func (c *Bench) reached(err error) error {
	if said := profile.Unreachable(c.Server, err); said != nil {
		return said
	}
	return err
}

// send submits the receipt, where a server is given. A result that the service stores
// without ranking is an errNotAccepted with the reason.
func (c *Bench) send(ctx context.Context, done *benchResult) error {
	if c.Server == "" {
		return nil
	}
	public, err := done.signer.PEM()
	if err != nil {
		return err
	}
	reply, err := farmapi.NewClient(c.Server, c.Key).Benchmark(ctx, farmapi.BenchmarkRequest{WorkerID: done.workerID, Envelope: done.Envelope, PublicKeyPEM: string(public), Frame: done.frame})
	if err != nil {
		return c.reached(fmt.Errorf("send the receipt: %w", err))
	}
	done.Result = &reply
	if reply.Status != farmapi.BenchmarkAccepted {
		return fmt.Errorf("%w: %s: %s", errNotAccepted, *reply.Reason, *reply.Detail)
	}
	return nil
}

// verifications say what a result's verification means.
var verifications = map[string]string{
	string(benchmark.Verified):   "verified",
	string(benchmark.Waiting):    "waiting: a worker of another key renders your picture too; until then it is not ranked",
	string(benchmark.Unverified): "unverified: it answers no challenge, and is not ranked",
	string(benchmark.Outlier):    "outlier: it is far above all others of its GPU, and is not ranked",
	string(benchmark.Synthetic):  "synthetic: nothing was rendered",
}

// print writes the result for people: a table of the scenes, then the score.
func (b benchResult) print(w io.Writer, server string) {
	table := terminal.NewTable(w)
	table.Row("scene", "samples/min", "samples", "rendered", "picture")
	for _, s := range b.Receipt.Scenes {
		picture := "correct"
		if !s.MatchesReference {
			picture = "WRONG"
		}
		table.Row(s.Scene, fmt.Sprintf("%.1f", s.SamplesPerMinute), fmt.Sprint(s.Samples), fmt.Sprintf("%.1f s", s.RenderSeconds),
			fmt.Sprintf("%s (difference %.4f)", picture, s.Difference))
	}
	table.Row()
	row := table.Rowf
	row("score", "%.1f (%s, %s, %s)", b.Score, b.Receipt.BenchmarkVersion, b.Receipt.SceneVersion, b.Receipt.ScoringVersion)
	row("device", "%s, %s", b.Receipt.RenderDevice, b.Receipt.DeviceName())
	row("blender", "%s (%s)", b.Receipt.BlenderVersion, b.Receipt.BlenderBuildHash)
	switch {
	case b.Result == nil && server != "":
		row("result", "not accepted by %s", server)
	case b.Result == nil:
		row("result", "not sent; use --server and --key to send it")
	case b.Result.PublicResultURL != nil:
		row("result", "%s", *b.Result.PublicResultURL)
		row("verification", "%s", verifications[*b.Result.Verification])
	default:
		row("result", "%s; stored, but not published", b.Result.Status)
	}
	_ = table.Flush() // a closed standard output has no reader
}
