// Package operator has the commands of the people who run the service: serve, admin
// and openapi.
//
// What always holds: a command that only reads opens nothing for writing; one that changes
// something asks first, and does it in one transaction; a secret is printed once, when it is made;
// a password of the database is never printed. Package app knows what a service consists of. Start
// reading at Serve; admin.go lists the admin commands, which have one file for each thing that they
// work on.
package operator

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/farm"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/app"
	"svc.example/internal/ground/tracing"
	"svc.example/internal/render/blender"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/overview"
	"svc.example/internal/work/preview"
)

// Serve runs the service: API, pages, background work and, by default, a worker.
type Serve struct {
	store
	farm.BlenderFlags
	farm.SandboxFlags
	farm.MachineFlags
	signInFlags       `embed:"" group:"Sign-in"`
	paymentFlags      `embed:"" group:"Payments"`
	webhookFlags      `embed:"" group:"Webhooks"`
	Listen            string        `group:"Common" env:"SVC_LISTEN" default:"127.0.0.1:8080" help:"Address to listen on; port 0 takes a free one."`
	PublicURL         string        `group:"Common" env:"SVC_PUBLIC_URL" placeholder:"URL" help:"URL under which callers reach the service. Without it, the address it listens on."`
	Metrics           string        `group:"Start, stop and monitoring" name:"metrics-listen" env:"SVC_METRICS_LISTEN" placeholder:"ADDR" help:"Also serve /metrics for Prometheus, with /livez and /readyz, on this address, to anyone who can reach it. Default: off."`
	SigningKey        string        `group:"Receipts and log" env:"SVC_SIGNING_KEY" type:"existingfile" placeholder:"FILE" help:"Key that signs receipts, Ed25519 in PKCS#8 PEM. Default: a key that the service creates in the data folder."`
	SignCommand       string        `group:"Receipts and log" name:"signing-command" env:"SVC_SIGNING_COMMAND" placeholder:"COMMAND" help:"Program that signs instead, with its arguments split at spaces, for keys in a hardware module or a key management service. It gets the bytes on standard input and writes the 64 bytes of the Ed25519 signature. Needs --signing-public."`
	SignPublic        string        `group:"Receipts and log" name:"signing-public" env:"SVC_SIGNING_PUBLIC" type:"existingfile" placeholder:"FILE" help:"Public key of --signing-command, PEM."`
	LogOrigin         string        `group:"Receipts and log" env:"SVC_LOG_ORIGIN" placeholder:"NAME" help:"Name of the log of receipts. It cannot change once the log has a receipt. Default: the public URL's host followed by /log."`
	Witnesses         string        `group:"Receipts and log" env:"SVC_WITNESSES" type:"existingfile" placeholder:"FILE" help:"Witnesses that co-sign the log's checkpoints, and how many of them must sign. The policy has the lines witness NAME KEY URL, group NAME N MEMBER… and quorum NAME. The service continues without them and logs it."`
	Terms             string        `group:"Payments" env:"SVC_TERMS" type:"existingfile" placeholder:"FILE" help:"Your terms, in Markdown, at most 256 KiB. Callers accept them when they start a job; /terms shows them. Default: a short built-in text."`
	Downloads         string        `group:"Common" env:"SVC_DOWNLOADS" type:"existingdir" placeholder:"DIR" help:"Folder of a release, as make release writes it: /download offers its programs and signed checksums. Without it, that page tells how to build svc."`
	Dev               bool          `group:"Common" env:"SVC_DEV" help:"Try svc on this machine: accept any Blender, and render on the CPU if there is no GPU and without denoising if Blender has no denoiser. The log, pages and receipts say so."`
	Worker            string        `group:"Common" env:"SVC_WORKER" enum:"embedded,none" default:"embedded" help:"embedded also renders in this process; none leaves rendering to svc worker."`
	OperatorAPI       string        `group:"Common" env:"SVC_OPERATOR_API" enum:"on,off" default:"off" help:"on serves the HTTP API for operators below /admin/v1, to programs with a key from svc admin operator-key create. Keep it off where nobody uses it: such a key can move money."`
	AcceptJobs        bool          `group:"Start, stop and monitoring" env:"SVC_ACCEPT_JOBS" default:"true" negatable:"" help:"Accept new jobs. With --no-accept-jobs, start answers 503 and spends nothing; running jobs finish."`
	Synthetic         bool          `group:"Rendering" name:"allow-synthetic" env:"SVC_ALLOW_SYNTHETIC" help:"Admit synthetic workers, which render nothing, to test the service. Everything they produce is marked."`
	StopTimeout       time.Duration `group:"Start, stop and monitoring" env:"SVC_STOP_TIMEOUT" default:"30s" help:"How long to wait for running requests after a signal before they are cut off."`
	MigrateAnyway     bool          `group:"Start, stop and monitoring" env:"SVC_MIGRATE_ANYWAY" help:"Bring the database up to date although a process of an older version is using it. That process then fails."`
	DrainDelay        time.Duration `group:"Start, stop and monitoring" env:"SVC_DRAIN_DELAY" default:"0s" help:"How long the port stays open after a signal, with 503 on /readyz, before it closes. Set it to the time that a load balancer needs to notice."`
	Inspecting        terminal.Size `group:"Limits" name:"inspect-memory" env:"SVC_INSPECT_MEMORY" default:"512MiB" help:"Most memory for reading all uploads, beyond 1 MiB each."`
	ProjectSize       terminal.Size `group:"Limits" name:"project-size" env:"SVC_PROJECT_SIZE" default:"8GiB" help:"Most bytes of one project, all files together."`
	Unstarted         terminal.Size `group:"Limits" name:"unstarted-storage" env:"SVC_UNSTARTED_STORAGE" default:"5GiB" help:"Most bytes that a workspace can store without a job that pays for them: uploads and their database records."`
	ReusedFrames      int64         `group:"Limits" env:"SVC_REUSED_FRAMES" default:"100000" help:"Most frames that a workspace has taken over from earlier jobs and that are kept at once. They cost storage, and their job nothing. 0 takes none over."`
	ReusedBytes       terminal.Size `group:"Limits" env:"SVC_REUSED_BYTES" default:"256GiB" help:"Most bytes that these frames have together, with the files of their File Output nodes."`
	Unpaid            terminal.Size `group:"Limits" name:"unpaid-storage" env:"SVC_UNPAID_STORAGE" placeholder:"SIZE" help:"Most bytes that all workspaces without any credit or payment can store together. Default: a tenth of the data folder's disk."`
	Previews          previewLimits `group:"Limits" name:"free-previews" env:"SVC_FREE_PREVIEWS" default:"3,20" placeholder:"UPLOAD,DAY" help:"Free previews per upload, and per workspace within 24 hours. Workers render them when no paid frame is waiting. 0 means none."`
	SheetFrames       int           `group:"Limits" name:"contact-sheet-frames" env:"SVC_CONTACT_SHEET_FRAMES" default:"100" placeholder:"N" help:"Most frames in a contact sheet. Longer jobs show an even selection. Each frame costs reading one picture."`
	LoopFrames        int           `group:"Limits" env:"SVC_LOOP_FRAMES" default:"48" placeholder:"N" help:"Most frames in a loop, selected in the same way."`
	Outputs           int           `group:"Limits" name:"frame-outputs" env:"SVC_FRAME_OUTPUTS" default:"64" placeholder:"N" help:"Most files that one frame may have besides its picture: those of File Output nodes, views and previews. More fail the frame with too_many_outputs."`
	OutputsSize       terminal.Size `group:"Limits" name:"frame-outputs-size" env:"SVC_FRAME_OUTPUTS_SIZE" default:"1GiB" help:"Most bytes of these files, all of one frame together."`
	FrameTime         time.Duration `group:"Rendering" env:"SVC_FRAME_TIME" default:"2h" help:"Most time that one frame may take on any worker. A longer frame fails with frame_time_exceeded."`
	PlayTime          time.Duration `group:"Rendering" env:"SVC_PLAY_TIME" default:"2h" help:"Most time for computing the earlier frames of a simulation before a frame. If that is not enough, the frame fails with frame_time_exceeded."`
	SplitAbove        time.Duration `group:"Rendering" name:"split-above" env:"SVC_SPLIT_ABOVE" default:"2m" placeholder:"TIME" help:"Render a frame on several workers, in strips, if it is expected to take longer than this on one and others are idle. 0 means never."`
	Double            int           `group:"Rendering" name:"double-render" env:"SVC_DOUBLE_RENDER" default:"0" placeholder:"PERCENT" help:"Percentage of frames that two workers with different node keys render, to compare their pixels."`
	VerifyReuse       int           `group:"Rendering" env:"SVC_VERIFY_REUSE" default:"2" placeholder:"PERCENT" help:"Percentage of reused frames that idle workers render again, at nobody's cost, to compare both. A difference that a third rendering confirms switches reuse off for that kind of worker."`
	References        int           `group:"Rendering" name:"benchmark-references" env:"SVC_BENCHMARK_REFERENCES" default:"10" placeholder:"PERCENT" help:"Percentage of benchmark results that a worker with another node key must confirm. Results in the top ten are always confirmed."`
	RateFlags         `embed:"" group:"Limits"`
	openFlags         `embed:"" group:"Limits"`
	peopleFlags       `embed:"" group:"Limits"`
	keepFlags         `embed:"" group:"Retention"`
	testModeFlags     `embed:"" group:"Test mode"`
	checkFlags        `embed:"" group:"Start, stop and monitoring"`
	terminal.LogFlags `embed:"" group:"Start, stop and monitoring"`
}

// Run serves until a signal comes, then stops in order: no new requests, then the
// running ones, then the rest (package app). A second signal, two seconds later or
// more, ends the process at once; nothing acknowledged is lost by that.
//
// Flags are checked before anything is opened, so that a mistake leaves no store.
func (c *Serve) Run(k *kong.Context) error {
	ctx, stop := terminal.UntilSignal()
	defer stop()
	cfg, err := c.service()
	if err != nil {
		return err
	}
	c.LogFlags.Start(os.Stderr)
	flush, err := tracing.Start(ctx, slog.Default(), "svc")
	if err != nil {
		return terminal.WrongUsage(err)
	}
	defer flush()
	if c.Dev && c.Worker == "embedded" {
		if err := c.allowAll(ctx, k); err != nil {
			return notReady(err)
		}
	}
	if c.Worker == "embedded" {
		if cfg.Embedded, err = c.embedded(ctx); err != nil {
			return notReady(err)
		}
	}
	if err := c.check(ctx, cfg); err != nil {
		return err
	}
	if cfg.Unpaid == 0 {
		if cfg.Unpaid, err = unpaidStorage(c.Data); err != nil {
			return err
		}
	}
	var service *app.App
	// Announce is called once, when the service listens; service is set by then.
	cfg.Announce = func(address string) {
		terminal.Printf(k.Stdout, "svc listens on %s", address)
		if err := c.firstSteps(ctx, service, address, k); err != nil {
			terminal.Printf(k.Stderr, "svc: %v", err)
		}
		if err := tellSystemd("READY=1"); err != nil {
			slog.Warn("systemd does not know that the service serves", "err", err)
		}
	}
	service, err = app.Open(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { _ = service.Close() }()
	return notReady(service.Serve(ctx))
}

// embedded returns the configuration of the worker inside the server.
func (c *Serve) embedded(ctx context.Context) (*app.EmbeddedWorker, error) {
	e := &app.EmbeddedWorker{Device: blender.Device(c.Device), Denoise: blender.Denoise(c.Denoise), AllowBlenderVersion: c.AllowBlenderVersion}
	c.MachineFlags.Apply(&e.Machine)
	var err error
	if c.AllGPUs {
		e.Shares, err = c.OfCards(ctx, c.BlenderFlags, c.SandboxFlags, slog.Default())
		return e, err
	}
	found, err := c.FindBlender(ctx, c.SandboxFlags, slog.Default())
	found.Threads = c.Cores
	e.Renderer = found
	return e, err
}

// service returns the configuration that the flags describe, without the worker inside
// the server. Error: wrong usage.
func (c *Serve) service() (app.Config, error) {
	cfg := c.config()
	cfg.Listen, cfg.MetricsListen, cfg.PublicURL, cfg.SigningKey, cfg.LogOrigin, cfg.AllowSynthetic = c.Listen, c.Metrics, c.PublicURL, c.SigningKey, c.LogOrigin, c.Synthetic
	cfg.SigningCommand, cfg.SigningPublic = strings.Fields(c.SignCommand), c.SignPublic
	if (len(cfg.SigningCommand) > 0) != (c.SignPublic != "") || (c.SignPublic != "" && c.SigningKey != "") {
		return cfg, terminal.WrongUsagef("--signing-command and --signing-public go together, without --signing-key")
	}
	if c.Witnesses != "" {
		policy, err := readPolicy(c.Witnesses)
		if err != nil {
			return cfg, err
		}
		cfg.Witnesses = &policy
	}
	if c.Terms != "" {
		var err error
		if cfg.Terms, err = readTerms(c.Terms); err != nil {
			return cfg, err
		}
	}
	if err := c.MachineFlags.Check(c.BlenderFlags); err != nil {
		return cfg, terminal.WrongUsage(err)
	}
	cfg.DrainDelay, cfg.Downloads, cfg.MigrateAnyway, cfg.OperatorAPI = c.DrainDelay, c.Downloads, c.MigrateAnyway, c.OperatorAPI == "on"
	cfg.Refuse, cfg.StopTimeout, cfg.Unstarted, cfg.Unpaid, cfg.InspectMemory, cfg.ProjectSize = !c.AcceptJobs, c.StopTimeout, int64(c.Unstarted), int64(c.Unpaid), int64(c.Inspecting), int64(c.ProjectSize)
	cfg.DoubleRender, cfg.References, cfg.FrameTime, cfg.PlayTime, cfg.SelfCheck = c.Double, c.References, c.FrameTime, c.PlayTime, true
	cfg.FreePreviews, cfg.ReusedFrames, cfg.VerifyReuse = (*preview.Limits)(&c.Previews), &c.ReusedFrames, &c.VerifyReuse
	cfg.ReusedBytes = int64(c.ReusedBytes)
	cfg.Overviews = overview.Limits{ContactSheet: c.SheetFrames, Loop: c.LoopFrames}
	if c.SheetFrames < 1 || c.SheetFrames > overview.MostContactSheetFrames || c.LoopFrames < 1 || c.LoopFrames > overview.MostLoopFrames {
		return cfg, terminal.WrongUsagef("--contact-sheet-frames must be 1 to %d, and --loop-frames 1 to %d", overview.MostContactSheetFrames, overview.MostLoopFrames)
	}
	if c.Outputs < 1 || c.Outputs > farmapi.MostOutputs || c.OutputsSize < 1 {
		return cfg, terminal.WrongUsagef("--frame-outputs must be 1 to %d, and --frame-outputs-size above 0", farmapi.MostOutputs)
	}
	cfg.Outputs = farmapi.OutputLimits{Files: c.Outputs, Bytes: int64(c.OutputsSize)}
	if c.SplitAbove < 0 {
		return cfg, terminal.WrongUsagef("--split-above must be 0 or more")
	}
	cfg.SplitAbove = &c.SplitAbove
	if c.Double < 0 || c.Double > 100 {
		return cfg, terminal.WrongUsagef("--double-render must be 0 to 100")
	}
	if c.VerifyReuse < 0 || c.VerifyReuse > 100 {
		return cfg, terminal.WrongUsagef("--verify-reuse must be 0 to 100")
	}
	if c.References < 0 || c.References > 100 {
		return cfg, terminal.WrongUsagef("--benchmark-references must be 0 to 100")
	}
	if c.FrameTime < time.Second || c.PlayTime < time.Second {
		return cfg, terminal.WrongUsagef("--frame-time and --play-time must be at least 1s")
	}
	err := errors.Join(c.signInFlags.apply(&cfg), c.paymentFlags.apply(&cfg), c.webhookFlags.apply(&cfg), c.Limit(&cfg), c.openFlags.apply(&cfg), c.peopleFlags.apply(&cfg), c.keepFlags.apply(&cfg), c.testModeFlags.apply(&cfg))
	return cfg, err
}
