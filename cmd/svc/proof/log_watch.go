package proof

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/client"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/atomicfile"
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/receipt/receiptlog"
	"svc.example/internal/work/receipt/witness"
)

// logWatch is svc log watch.
type logWatch struct {
	URL       string   `arg:"" help:"The service's address."`
	State     string   `required:"" type:"path" placeholder:"FILE" help:"File with the last checkpoint. Created by the first run and updated by each run without a fault."`
	Also      []string `type:"existingfile" placeholder:"FILE" help:"Checkpoints of the same log from other sources, such as receipts. The log must extend each of them."`
	PinnedKey string   `name:"key" type:"existingfile" env:"SVC_VERIFY_KEY" help:"The service's public keys, PEM. Default: the keys that the service publishes."`
	Witness   []string `placeholder:"KEY,…" env:"SVC_VERIFY_WITNESS" help:"Witnesses that must have co-signed the checkpoint, each NAME+ID+KEY."`
	JSON      bool     `name:"json" env:"SVC_JSON" help:"Print one JSON object instead of lines."`
}

// Help is printed below the flags.
func (logWatch) Help() string {
	return "Reads only a few files of the log, whatever its length. If the log does not extend the saved checkpoint, it shows different histories to different people or has lost receipts. " +
		"The saved checkpoint then stays, and the other one is saved as FILE.alarm-TIME. Both are signed, so together they prove it to anyone. " +
		terminal.ExitHelp(terminal.ExitNotInLog, terminal.ExitInterrupted)
}

// Run makes one look.
func (c *logWatch) Run(k *kong.Context) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	defer func() { err = terminal.Interrupted(ctx, err, "the log was not looked at, and nothing was written") }()
	witnesses, err := parseWitnesses(c.Witness)
	if err != nil {
		return err
	}
	api, err := client.New(c.URL, "")
	if err != nil {
		return terminal.WrongUsage(err)
	}
	keys, err := logKeysOf(ctx, api, c.PinnedKey)
	if err != nil {
		return err
	}
	known, err := os.ReadFile(c.State)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the last checkpoint: %w", err)
	}
	source := &oneLook{logSource{api}, nil}
	found, err := receiptlog.Continues(ctx, source, keys, known)
	for _, path := range c.Also {
		if err == nil {
			err = c.also(ctx, source, keys, path)
		}
	}
	if err != nil {
		return logExitCode(errors.Join(err, c.keepAlarm(source.checkpoint, err)))
	}
	if err := checkWitnesses(found.Text, witnesses); err != nil {
		return err
	}
	if err := atomicfile.Replace(c.State, found.Text, 0o600); err != nil {
		return fmt.Errorf("remember the checkpoint: %w", err)
	}
	if c.JSON {
		return terminal.PrintJSON(k.Stdout, map[string]any{"ok": true, "origin": found.Origin, "size": found.Size, "root": found.Root.String(), "known_size": found.KnownSize, "witnesses": len(witnesses)})
	}
	if known == nil {
		terminal.Printf(k.Stdout, "log %s: size %d, remembered for the next run", found.Origin, found.Size)
		return nil
	}
	terminal.Printf(k.Stdout, "log %s: size %d, continues the %d of the last run", found.Origin, found.Size, found.KnownSize)
	return nil
}

// also compares the log with a checkpoint that someone else has seen. A checkpoint newer than
// the log is not in its history.
func (c *logWatch) also(ctx context.Context, source receiptlog.Source, keys []signingkey.Public, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the other checkpoint: %w", err)
	}
	if _, err := receiptlog.Continues(ctx, source, keys, text); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// keepAlarm keeps the checkpoint of a log that has two histories: evidence that the next
// answer of the service must not replace.
func (c *logWatch) keepAlarm(checkpoint []byte, why error) error {
	if checkpoint == nil || !errors.Is(why, receiptlog.ErrFork) {
		return nil
	}
	path := c.State + ".alarm-" + time.Now().UTC().Format("20060102T150405.000Z")
	if err := atomicfile.Replace(path, checkpoint, 0o600); err != nil {
		return fmt.Errorf("keep the other checkpoint: %w", err)
	}
	return fmt.Errorf("the conflicting checkpoint is in %s", path)
}

// oneLook reads a log whose checkpoint is read once: it is compared with several
// others.
type oneLook struct {
	logSource
	checkpoint []byte
}

// Read is that of logSource.
func (o *oneLook) Read(ctx context.Context, path string) (data []byte, err error) {
	if path != checkpointPath {
		return o.logSource.Read(ctx, path)
	}
	if o.checkpoint == nil {
		o.checkpoint, err = o.logSource.Read(ctx, path)
	}
	return o.checkpoint, err
}

// logKeysOf are the keys that a log's checkpoints may be signed by: those of the file, or
// those that the service publishes.
func logKeysOf(ctx context.Context, api *client.Client, file string) ([]signingkey.Public, error) {
	if file != "" {
		return readPublicKeys(file)
	}
	published, err := api.SigningKeys(ctx)
	if err != nil {
		return nil, err
	}
	return PublicKeys(published)
}

// parseWitnesses reads verifier keys of flags. Error: wrong usage.
func parseWitnesses(texts []string) (keys []witness.PublicKey, err error) {
	for _, text := range texts {
		key, err := witness.ParseKey(text)
		if err != nil {
			return nil, terminal.WrongUsage(err)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// checkWitnesses fails unless each has co-signed the checkpoint, with the exit code of a log
// that is not proven.
func checkWitnesses(checkpoint []byte, witnesses []witness.PublicKey) error {
	for _, w := range witnesses {
		if _, err := w.Check(checkpoint); err != nil {
			return terminal.Exit(terminal.ExitNotInLog, err)
		}
	}
	return nil
}

// logKeys is svc log keys.
type logKeys struct {
	URL  string `arg:"" help:"The service's address."`
	JSON bool   `name:"json" env:"SVC_JSON" help:"Print one JSON object instead of lines."`
}

// Run prints the verifier keys of a log (C2SP signed-note), the newest first.
func (c *logKeys) Run(k *kong.Context) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	api, err := client.New(c.URL, "")
	if err != nil {
		return terminal.WrongUsage(err)
	}
	keys, err := logKeysOf(ctx, api, "")
	if err != nil {
		return err
	}
	found, err := receiptlog.Continues(ctx, logSource{api}, keys, nil)
	if err != nil {
		return logExitCode(err)
	}
	texts := make([]string, len(keys))
	for i, key := range keys {
		if texts[i], err = receipt.LogVerifier(found.Origin, key); err != nil {
			return err
		}
	}
	if c.JSON {
		return terminal.PrintJSON(k.Stdout, map[string]any{"ok": true, "origin": found.Origin, "verifier_keys": texts})
	}
	for _, text := range texts {
		terminal.Printf(k.Stdout, "%s", text)
	}
	return nil
}
