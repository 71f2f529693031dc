package proof

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/client"
	"svc.example/cmd/svc/profile"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/atomicfile"
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/receipt/receiptlog"
)

// Log has the commands about logs.
type Log struct {
	Verify  logVerify  `cmd:"" help:"Read a service's whole log, recompute every hash and compare."`
	Watch   logWatch   `cmd:"" help:"Check that a service's log only grew since the last run. For cron."`
	Witness logWitness `cmd:"" help:"Co-sign the checkpoints of logs as an independent witness."`
	Keys    logKeys    `cmd:"" help:"Print the keys of a service's log in the form that witnesses need."`
}

// logVerify checks a service's whole log from outside, over its public files.
type logVerify struct {
	profile.ServerFlags
	PinnedKey  string `name:"key" type:"existingfile" env:"SVC_VERIFY_KEY" help:"The service's public keys, PEM. Default: the keys that the service publishes."`
	Checkpoint string `type:"path" placeholder:"FILE" help:"File with the checkpoint of the last run. The log must extend it. Updated after each run without a fault."`
	JSON       bool   `name:"json" env:"SVC_JSON" help:"Print one JSON object at the end; everything else goes to standard error."`
}

// Help is printed below the flags.
func (logVerify) Help() string {
	return "A log is broken if it is forked, altered, incomplete or unsigned. " + terminal.ExitHelp(terminal.ExitNotInLog, terminal.ExitInterrupted)
}

// Run reads the log to its end and recomputes every hash. The checkpoint file is
// replaced only after a run without a fault, so that a forked log never becomes the
// state that later runs are compared with.
func (c *logVerify) Run(k *kong.Context) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	defer func() { err = terminal.Interrupted(ctx, err, "the log is not verified, and nothing was written") }()
	human := k.Stdout // the stream that people read
	if c.JSON {
		human = k.Stderr
	}
	known, err := c.known()
	if err != nil {
		return err
	}
	service, err := c.Service()
	if err != nil {
		return err
	}
	display := terminal.NewDisplay(human, time.Now)
	api, err := service.Client(profile.RetriesOn(service.Server, human, display)...)
	if err != nil {
		return err
	}
	keys, err := c.keys(ctx, api)
	if err != nil {
		return err
	}
	meter := display.Meter("leaves", terminal.InLeaves)
	walked, err := receiptlog.Walk{Source: logSource{api}, Keys: keys, Known: known, Progress: meter.Move}.Run(ctx)
	meter.End()
	if err != nil {
		return logExitCode(err)
	}
	if c.Checkpoint != "" {
		if err := atomicfile.Replace(c.Checkpoint, walked.Text, 0o600); err != nil {
			return fmt.Errorf("write the checkpoint: %w", err)
		}
	}
	if c.JSON {
		return terminal.PrintJSON(k.Stdout, map[string]any{"ok": true, "origin": walked.Origin, "size": walked.Size, "root": walked.Root.String(), "known_size": walked.KnownSize})
	}
	terminal.Printf(human, "log %s: size %d, root %s", walked.Origin, walked.Size, walked.Root)
	if known != nil {
		terminal.Printf(human, "it still begins with the known checkpoint, size %d", walked.KnownSize)
	}
	terminal.Printf(human, "log verified")
	return nil
}

// known reads the checkpoint of the last run. nil means that there is none: no file was
// named, or this is the first run with it.
func (c *logVerify) known() ([]byte, error) {
	if c.Checkpoint == "" {
		return nil, nil
	}
	text, err := os.ReadFile(c.Checkpoint)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the known checkpoint: %w", err)
	}
	return text, nil
}

// keys returns the keys that the checkpoint must be signed by. The published keys only
// show that the log is consistent in itself; --key shows whose it is.
func (c *logVerify) keys(ctx context.Context, api *client.Client) ([]signingkey.Public, error) {
	if c.PinnedKey != "" {
		return readPublicKeys(c.PinnedKey)
	}
	published, err := api.SigningKeys(ctx)
	if err != nil {
		return nil, err
	}
	return PublicKeys(published)
}

// PublicKeys parses the keys that a service publishes, retired ones included. The error
// names the key that cannot be read.
func PublicKeys(published []client.SigningKey) (keys []signingkey.Public, err error) {
	for _, p := range published {
		key, err := signingkey.ParsePublicPEM([]byte(p.PublicKeyPEM))
		if err != nil {
			return nil, fmt.Errorf("read the service's key %s: %w", p.KeyID, err)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// logExitCode gives the exit code 5 to every error that shows a fault of the log. A
// lost connection is none: it stays exit code 1.
func logExitCode(err error) error {
	for _, broken := range []error{receipt.ErrNotInLog, receiptlog.ErrFork, receiptlog.ErrHole, receiptlog.ErrAltered} {
		if errors.Is(err, broken) {
			return terminal.Exit(terminal.ExitNotInLog, err)
		}
	}
	return err
}

// checkpointPath is the one file that every log has.
const checkpointPath = "checkpoint"

// logSource reads a log's files from a service, without a key: they are public.
type logSource struct{ api *client.Client }

// Read fetches one file. A tile that the service does not have is receiptlog.ErrNoTile.
func (s logSource) Read(ctx context.Context, path string) ([]byte, error) {
	data, err := s.api.LogFile(ctx, path)
	if refused, ok := errors.AsType[*client.Error](err); ok && refused.Status == http.StatusNotFound && path != checkpointPath {
		return nil, receiptlog.ErrNoTile
	}
	return data, err
}
