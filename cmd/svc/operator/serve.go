// Package operator has the commands of whoever runs the service: serve, admin and
// openapi.
//
// What always holds: a command that only reads makes no store; one that changes
// something does it in one transaction; a secret is printed once, when it is made.
// It leaves to package app what a service is made of. Start reading at Serve; admin.go
// lists the admin commands, which have a file each by what they work on.
package operator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/farm"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/app"
	"svc.example/internal/ground/blender"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/identity"
)

// Serve runs the service.
type Serve struct {
	store
	farm.BlenderFlags
	farm.SandboxFlags
	signInFlags
	webhookFlags
	Listen      string        `env:"SVC_LISTEN" default:"127.0.0.1:8080" help:"Address to listen on; port 0 takes a free one."`
	PublicURL   string        `env:"SVC_PUBLIC_URL" placeholder:"URL" help:"How callers reach the service. Without it, the address it listens on."`
	SigningKey  string        `env:"SVC_SIGNING_KEY" type:"existingfile" placeholder:"FILE" help:"Key that signs receipts, Ed25519 in PKCS#8 PEM. Without it, one made and kept in the data folder."`
	LogOrigin   string        `env:"SVC_LOG_ORIGIN" placeholder:"NAME" help:"Name of the log of receipts, kept once it holds one. Without it, the public URL's host and /log."`
	Worker      string        `env:"SVC_WORKER" enum:"embedded,none" default:"embedded" help:"Whether to render here."`
	AcceptJobs  bool          `env:"SVC_ACCEPT_JOBS" default:"true" negatable:"" help:"Take new jobs. Without, start answers 503 and spends nothing; running jobs are finished."`
	Synthetic   bool          `name:"allow-synthetic" env:"SVC_ALLOW_SYNTHETIC" help:"Let workers in that render nothing, to try the service out. What they touch says so."`
	StopTimeout time.Duration `env:"SVC_STOP_TIMEOUT" default:"30s" help:"How long running requests may take to end once a signal says stop; then they are cut off."`
	RateFlags
}

// Run serves until a signal comes. A second signal, two seconds later or more,
// ends it at once.
func (c *Serve) Run(k *kong.Context) error {
	ctx, stop := terminal.UntilSignal()
	defer stop()
	cfg := c.config()
	cfg.Listen, cfg.PublicURL, cfg.SigningKey, cfg.LogOrigin, cfg.AllowSynthetic = c.Listen, c.PublicURL, c.SigningKey, c.LogOrigin, c.Synthetic
	cfg.Refuse, cfg.StopTimeout = !c.AcceptJobs, c.StopTimeout
	if err := errors.Join(c.apply(&cfg), c.let(&cfg)); err != nil {
		return err
	}
	if c.Worker == "embedded" {
		renderer, err := c.FindBlender(ctx, c.SandboxFlags, slog.Default())
		if err != nil {
			return err
		}
		cfg.Embedded = &app.EmbeddedWorker{
			Renderer: renderer, Device: blender.Device(c.Device), Denoise: blender.Denoise(c.Denoise), AllowBlenderVersion: c.AllowBlenderVersion,
		}
	}
	if err := c.Limit(&cfg); err != nil {
		return err
	}
	var service *app.App
	cfg.Announce = func(address string) {
		fmt.Fprintf(k.Stdout, "svc listens on %s\n", address)
		if err := c.firstSteps(ctx, service, address, k); err != nil {
			fmt.Fprintf(k.Stderr, "svc: %v\n", err)
		}
	}
	service, err := app.Open(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { _ = service.Close() }()
	return service.Serve(ctx)
}

// firstSteps says what to do with a service that nobody has used yet.
func (c *Serve) firstSteps(ctx context.Context, service *app.App, address string, k *kong.Context) error {
	const operator = "operator@localhost"
	var token string
	err := service.DB.Write(ctx, func(tx *db.Tx) error {
		n, err := tx.WorkspaceCount(ctx)
		if err != nil || n > 0 {
			return err
		}
		token, err = identity.CreateSignInLink(ctx, tx, operator)
		return err
	})
	if err != nil || token == "" {
		return err
	}
	if c.PublicURL != "" {
		address = c.PublicURL
	}
	fmt.Fprintf(k.Stdout, `
Nobody has a workspace here yet. To make one with 5.00 USD and its keys:
  svc admin workspace create --email you@example.com --credit-cents 500 %s
then have a scene rendered with the agent key that it prints:
  svc render scene.blend --server %s --key svc_agent_…
To sign in as %s, open within 15 minutes, once:
  %s

`, c.flags(), address, operator, links.Links{PublicURL: address}.SignIn(token))
	return nil
}
