package operator

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/app"
	"svc.example/internal/ground/db"
)

// Admin works on the store itself, beside a running service or without one.
type Admin struct {
	Workspace struct {
		Create    workspaceCreate `cmd:"" help:"Make a workspace with an account key and an agent key."`
		ProofPage proofPage       `cmd:"" help:"Show a workspace's receipts to who knows their ids, or end that."`
	} `cmd:"" help:"Workspaces."`
	Wallet struct {
		Credit walletCredit `cmd:"" help:"Add money to a workspace's wallet."`
		Refund walletRefund `cmd:"" help:"Give money that a job has paid back to its workspace."`
	} `cmd:"" help:"Wallets."`
	Key struct {
		Create keyCreate `cmd:"" help:"Make a key; its secret is shown once."`
		List   keyList   `cmd:"" help:"List the keys of workers, or of a workspace: ids, not secrets."`
		Revoke keyRevoke `cmd:"" help:"End a key at once."`
	} `cmd:"" help:"Keys."`
	SigningKey struct {
		Rotate signingKeyRotate `cmd:"" help:"Make a new key that signs receipts from now on."`
		Retire signingKeyRetire `cmd:"" help:"End a key. What it has signed stays good."`
	} `cmd:"" help:"Keys that sign receipts and the log."`
	DeadLetter struct {
		List    deadLetterList    `cmd:"" help:"List work of the server's own that failed too often: what, when and why."`
		Requeue deadLetterRequeue `cmd:"" help:"Have such work done again, from now on."`
	} `cmd:"" help:"Work that failed too often and is tried no more."`
	Workers    workers    `cmd:"" help:"List workers: state, device, sandbox, when they were last heard."`
	SignInLink signInLink `cmd:"" help:"Make a one-time link to sign in with."`
	Audit      audit      `cmd:"" help:"Check money, frames, receipts, their log and files over the whole store; exit 1 on any breach."`
}

// adminFlags are common to all admin commands.
type adminFlags struct {
	store
	JSON bool `name:"json" env:"SVC_JSON" help:"Print one JSON object."`
}

// change runs do in one transaction of a store that is there.
func (f adminFlags) change(do func(ctx context.Context, tx *db.Tx) error) error {
	if err := f.there(); err != nil {
		return err
	}
	return f.write(do)
}

// write runs do in one transaction of the store, which is made when it is not
// there: an operator may prepare a service before its first start. That is said,
// since most often --data is mistyped.
func (f adminFlags) write(do func(ctx context.Context, tx *db.Tx) error) error {
	if f.there() != nil {
		fmt.Fprintf(os.Stderr, "svc: there was no service's data in %s; it is made now\n", f.Data)
	}
	return f.open(func(ctx context.Context, d *db.DB) error {
		return d.Write(ctx, func(tx *db.Tx) error { return do(ctx, tx) })
	})
}

// read is change for what only looks.
func (f adminFlags) read(do func(ctx context.Context, tx *db.Tx) error) error {
	if err := f.there(); err != nil {
		return err
	}
	return f.open(func(ctx context.Context, d *db.DB) error {
		return d.Read(ctx, func(tx *db.Tx) error { return do(ctx, tx) })
	})
}

func (f adminFlags) open(do func(ctx context.Context, d *db.DB) error) error {
	ctx := context.Background()
	service, err := app.Open(ctx, f.config())
	if err != nil {
		return err
	}
	defer func() { _ = service.Close() }()
	return do(ctx, service.DB)
}

// field is one line of an answer.
type field struct {
	name  string
	value any
}

// print writes an answer for people, or for programs.
func (f adminFlags) print(k *kong.Context, fields ...field) error {
	if f.JSON {
		object := map[string]any{"ok": true}
		for _, l := range fields {
			object[l.name] = l.value
		}
		return terminal.PrintJSON(k.Stdout, object)
	}
	for _, l := range fields {
		fmt.Fprintf(k.Stdout, "%-14s %v\n", strings.ReplaceAll(l.name, "_", " "), l.value)
	}
	return nil
}
