package proof

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/alecthomas/kong"
	"golang.org/x/mod/sumdb/note"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/atomicfile"
	"svc.example/internal/ground/signingkey/keyfile"
	"svc.example/internal/work/receipt/witness"
)

// logWitness is svc log witness.
type logWitness struct {
	Name   string   `required:"" env:"SVC_WITNESS_NAME" help:"Name of the witness in its signatures, such as witness.example.org. Never change it: a new name is a new witness."`
	Logs   []string `name:"log" required:"" placeholder:"KEY" env:"SVC_WITNESS_LOGS" help:"Keys of the logs to watch, each NAME+ID+KEY, as printed by svc log keys. Keys with the same name belong to one log."`
	Data   string   `required:"" type:"path" env:"SVC_WITNESS_DATA" placeholder:"FOLDER" help:"Folder for the key and the last checkpoint of each log. Created by the first start. Back it up: its contents cannot be recreated."`
	Listen string   `env:"SVC_WITNESS_LISTEN" default:"127.0.0.1:8090" help:"Address to listen on; port 0 takes a free one."`
	terminal.LogFlags
}

// Help is printed below the flags.
func (logWitness) Help() string {
	return "Speaks C2SP tlog-witness at /add-checkpoint, and co-signs a checkpoint only if it extends everything co-signed before. Prints its own key, which verifiers and the service's policy need. " +
		terminal.ExitHelp()
}

// witnessTimeout bounds a request and its answer.
const witnessTimeout = 10 * time.Second

// Run serves until a signal comes.
func (c *logWitness) Run(k *kong.Context) error {
	ctx, stop := terminal.UntilSignal()
	defer stop()
	logs, err := parseLogs(c.Logs)
	if err != nil {
		return err
	}
	if err := atomicfile.MkdirAll(c.Data); err != nil {
		return fmt.Errorf("prepare the witness's folder: %w", err)
	}
	private, err := keyfile.LoadOrCreate(filepath.Join(c.Data, "witness.pem"), rand.Reader)
	if err != nil {
		return err
	}
	key, err := witness.NewKey(c.Name, private)
	if err != nil {
		return terminal.WrongUsage(err)
	}
	c.Start(k.Stderr)
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", c.Listen, err)
	}
	server := &http.Server{
		Handler:     &witness.Witness{Key: key, Logs: logs, Folder: c.Data, Now: time.Now, Log: slog.Default()},
		ReadTimeout: witnessTimeout, WriteTimeout: witnessTimeout, IdleTimeout: time.Minute,
	}
	terminal.Printf(k.Stdout, "key %s", key.PublicKey)
	terminal.Printf(k.Stdout, "listening on http://%s", listener.Addr())
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err = <-served:
	case <-ctx.Done():
		last, giveUp := context.WithTimeout(context.WithoutCancel(ctx), witnessTimeout)
		defer giveUp()
		err = server.Shutdown(last)
		<-served
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// parseLogs reads the verifier keys of logs, by their names. Error: wrong usage.
func parseLogs(texts []string) (map[string][]note.Verifier, error) {
	logs := map[string][]note.Verifier{}
	for _, text := range texts {
		key, err := note.NewVerifier(text)
		if err != nil {
			return nil, terminal.WrongUsagef("%q is not the key of a log: %w", text, err)
		}
		logs[key.Name()] = append(logs[key.Name()], key)
	}
	return logs, nil
}
