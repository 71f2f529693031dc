package proof

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/client"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/atomicfile"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/receipt/receiptlog"
)

// Log has the command that checks a whole log.
type Log struct {
	Verify logVerify `cmd:"" help:"Read the whole log of a service, compute every hash anew and compare."`
}

// logVerify checks a log from outside.
type logVerify struct {
	Server     string `env:"SVC_SERVER" default:"http://127.0.0.1:8080" help:"Address of the service."`
	PinnedKey  string `name:"key" type:"existingfile" env:"SVC_VERIFY_KEY" help:"The service's public keys, PEM. Without it, those that the service publishes."`
	Checkpoint string `type:"path" placeholder:"FILE" help:"Where the checkpoint of the last walk is kept: the log must still begin with it. Written anew after a walk that found nothing."`
	JSON       bool   `name:"json" env:"SVC_JSON" help:"Print one JSON object at the end."`
}

// Help is shown under the flags.
func (logVerify) Help() string {
	return "Exit codes: 0 the log holds; 1 it could not be read; 2 wrong usage; 5 it does not hold: forked, with a hole, altered, or not signed."
}

// Run walks the log.
func (c *logVerify) Run(k *kong.Context) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	people := k.Stdout
	if c.JSON {
		people = k.Stderr
	}
	known, err := c.known()
	if err != nil {
		return err
	}
	keys, err := c.keys(ctx)
	if err != nil {
		return err
	}
	meter := terminal.NewDisplay(people, time.Now).Meter("leaves", terminal.InLeaves)
	walked, err := receiptlog.Walk{Source: logSource{c.Server}, Keys: keys, Known: known, Progress: meter.Move}.Run(ctx)
	meter.End()
	if err != nil {
		return logExitCode(err)
	}
	if c.Checkpoint != "" {
		if err := atomicfile.Replace(c.Checkpoint, walked.Text, 0o600); err != nil {
			return fmt.Errorf("keep the checkpoint: %w", err)
		}
	}
	if c.JSON {
		return terminal.PrintJSON(k.Stdout, map[string]any{"ok": true, "origin": walked.Origin, "size": walked.Size, "root": walked.Root.String(), "known_size": walked.Since})
	}
	fmt.Fprintf(people, "log %s: size %d, root %s\n", walked.Origin, walked.Size, walked.Root)
	if known != nil {
		fmt.Fprintf(people, "it still begins with the known checkpoint, size %d\n", walked.Since)
	}
	fmt.Fprintln(people, "log verified")
	return nil
}

// known reads the remembered checkpoint; the first walk has none.
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

func (c *logVerify) keys(ctx context.Context) ([]receipt.PublicKey, error) {
	if c.PinnedKey != "" {
		return readPublicKeys(c.PinnedKey)
	}
	api, err := client.New(c.Server, "")
	if err != nil {
		return nil, terminal.WrongUsage(err)
	}
	published, err := api.SigningKeys(ctx)
	if err != nil {
		return nil, err
	}
	return PublicKeys(published)
}

// PublicKeys reads the keys that a service publishes.
func PublicKeys(published []client.SigningKey) (keys []receipt.PublicKey, err error) {
	for _, p := range published {
		key, err := receipt.ParsePublicPEM([]byte(p.PublicKeyPEM))
		if err != nil {
			return nil, fmt.Errorf("read the service's key %s: %w", p.KeyID, err)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

func logExitCode(err error) error {
	for _, broken := range []error{receipt.ErrNotInLog, receiptlog.ErrFork, receiptlog.ErrHole, receiptlog.ErrAltered} {
		if errors.Is(err, broken) {
			return terminal.Exit(terminal.ExitNotInLog, err)
		}
	}
	return err
}

// maxLogFile bounds what is read of one file of a log, bytes: a full tile of
// entries has 8704.
const maxLogFile = 64 << 10

// logFileTimeout is how long one file may take: a walk that runs by itself must
// not wait for a silent server for ever.
const logFileTimeout = time.Minute

// logSource reads a log's files from a service.
type logSource struct{ server string }

// Read gets one file. One that is not there is a receiptlog.ErrNoTile.
func (s logSource) Read(ctx context.Context, path string) ([]byte, error) {
	address, err := url.JoinPath(strings.TrimRight(s.server, "/"), "log", path)
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		data, err := readOnce(ctx, address)
		if err == nil || errors.Is(err, receiptlog.ErrNoTile) || try == 4 {
			return data, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Duration(try) * time.Second):
		}
	}
}

func readOnce(ctx context.Context, address string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, logFileTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxLogFile))
	switch {
	case answer.StatusCode == http.StatusNotFound:
		return nil, receiptlog.ErrNoTile
	case answer.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("GET %s: %s", address, answer.Status)
	}
	return data, err
}
