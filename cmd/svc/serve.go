package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/internal/app"
	"svc.example/internal/ground/blender"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/identity"
)

// store is where a command finds the house.
type store struct {
	Data     string `env:"SVC_DATA" default:"./data" type:"path" help:"Folder of files, keys and, without --database, the SQLite database."`
	Database string `env:"SVC_DATABASE" placeholder:"URL" help:"postgres://… to use PostgreSQL instead of SQLite."`
	SealKeys string `env:"SVC_SEAL_KEYS" placeholder:"KEYS" help:"Keys that seal secrets in the database, 32 bytes in base64, apart by commas; the first seals, all open. Give them by the environment. Without them, keys/seal.keys in the data folder."`
}

// Validate refuses an address that would be taken for a SQLite file's path.
func (s store) Validate() error {
	if s.Database != "" && !strings.HasPrefix(s.Database, "postgres://") && !strings.HasPrefix(s.Database, "postgresql://") {
		return errors.New("--database takes an address that begins with postgres://; without it, SQLite in --data is used")
	}
	return nil
}

// config is a house at that place.
func (s store) config() app.Config {
	return app.Config{Data: s.Data, Database: s.Database, SealKeys: s.SealKeys}
}

// flags are those that lead another command to the same place. A password stays
// in the environment: what is printed here is kept by whoever keeps the output.
func (s store) flags() string {
	where := "--data " + s.Data
	if s.Database == "" {
		return where
	}
	u, err := url.Parse(s.Database)
	if err != nil || u.Redacted() != s.Database || u.Query().Has("password") {
		return where + ` --database "$SVC_DATABASE"`
	}
	return where + " --database " + s.Database
}

// there is an error where no service has kept anything yet: who only looks makes
// no store, and takes none that is empty for one that is well.
func (s store) there() error {
	if s.Database != "" {
		return nil
	}
	if _, err := os.Stat(s.config().DatabaseURL()); err != nil {
		return exitError{fmt.Errorf("there is no service's data in %s; say where it is with --data, or --database for PostgreSQL", s.Data), exitUsage}
	}
	return nil
}

// blenderFlags say how a worker renders.
type blenderFlags struct {
	Device              string `env:"SVC_DEVICE" enum:"gpu,cpu" default:"gpu" help:"What to render on."`
	Blender             string `env:"SVC_BLENDER" placeholder:"PATH" help:"The blender to run. Without it: the one scripts/install-blender got, else that on PATH."`
	AllowBlenderVersion bool   `env:"SVC_ALLOW_BLENDER_VERSION" help:"Work with another Blender than the contract's."`
	Denoise             string `env:"SVC_DENOISE" enum:"keep,off" default:"keep" help:"off switches the scenes' denoising off, and the receipt says so."`
}

type serveCmd struct {
	store
	blenderFlags
	sandboxFlags
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
	rateFlags
}

// Run serves until a signal comes. A second signal, two seconds later or more,
// ends it at once.
func (c *serveCmd) Run(k *kong.Context) error {
	ctx, stop := untilSignal()
	defer stop()
	cfg := c.config()
	cfg.Listen, cfg.PublicURL, cfg.SigningKey, cfg.LogOrigin, cfg.AllowSynthetic = c.Listen, c.PublicURL, c.SigningKey, c.LogOrigin, c.Synthetic
	cfg.Refuse, cfg.StopTimeout = !c.AcceptJobs, c.StopTimeout
	if err := errors.Join(c.apply(&cfg), c.let(&cfg)); err != nil {
		return err
	}
	if c.Worker == "embedded" {
		renderer, err := c.renderer(ctx, c.sandboxFlags, slog.Default())
		if err != nil {
			return err
		}
		cfg.Embedded = &app.EmbeddedWorker{
			Renderer: renderer, Device: blender.Device(c.Device), Denoise: blender.Denoise(c.Denoise), AllowBlenderVersion: c.AllowBlenderVersion,
		}
	}
	if err := c.limit(&cfg); err != nil {
		return err
	}
	var house *app.App
	cfg.Announce = func(address string) {
		fmt.Fprintf(k.Stdout, "svc listens on %s\n", address)
		if err := c.firstSteps(ctx, house, address, k); err != nil {
			fmt.Fprintf(k.Stderr, "svc: %v\n", err)
		}
	}
	house, err := app.Open(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { _ = house.Close() }()
	return house.Serve(ctx)
}

// firstSteps says what to do with a service that nobody has used yet.
func (c *serveCmd) firstSteps(ctx context.Context, house *app.App, address string, k *kong.Context) error {
	const operator = "operator@localhost"
	var token string
	err := house.DB.Write(ctx, func(tx *db.Tx) error {
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
