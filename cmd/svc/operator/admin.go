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

// Admin works on the store directly, beside a running service or without one. It needs
// no key: whoever can read the store may do everything.
type Admin struct {
	Workspace struct {
		Create    workspaceCreate `cmd:"" help:"Create a workspace with an account key and an agent key."`
		ProofPage proofPage       `cmd:"" help:"Publish or hide the proof pages of a workspace's receipts."`
	} `cmd:"" help:"Manage workspaces."`
	Wallet struct {
		Credit walletCredit `cmd:"" help:"Add money to a workspace's wallet."`
		Refund walletRefund `cmd:"" help:"Return money that a job has paid to its workspace."`
	} `cmd:"" help:"Move money in and out of wallets."`
	Key struct {
		Create keyCreate `cmd:"" help:"Create a key. Its secret is shown only once."`
		List   keyList   `cmd:"" help:"List the keys of workers, or of a workspace, without their secrets."`
		Revoke keyRevoke `cmd:"" help:"Revoke a key at once."`
	} `cmd:"" help:"Manage the keys of workspaces and workers."`
	SigningKey struct {
		Rotate signingKeyRotate `cmd:"" help:"Create a key that signs receipts from now on."`
		Retire signingKeyRetire `cmd:"" help:"End a key. What it has signed stays valid."`
	} `cmd:"" help:"Manage the keys that sign receipts and the log."`
	DeadLetter struct {
		List    deadLetterList    `cmd:"" help:"List the server's own work that failed too often: what, when and why."`
		Requeue deadLetterRequeue `cmd:"" help:"Put dead letters back into their queue, due at once."`
	} `cmd:"" help:"Inspect and requeue work that failed too often and is not retried."`
	Workers    workers    `cmd:"" help:"List workers: state, device, sandbox, when they were last seen."`
	SignInLink signInLink `cmd:"" help:"Create a one-time sign-in link."`
	Audit      audit      `cmd:"" help:"Check money, frames, receipts, the log and files over the whole store. Exits with 1 on any breach."`
}

// adminFlags are common to all admin commands.
type adminFlags struct {
	store
	JSON bool `name:"json" env:"SVC_JSON" help:"Print one JSON object."`
}

// change runs do in one transaction of an existing store. Most commands that write use
// it: they name a workspace, job or key, so an empty store can only be a mistake.
func (f adminFlags) change(do func(ctx context.Context, tx *db.Tx) error) error {
	if err := f.exists(); err != nil {
		return err
	}
	return f.write(do)
}

// write runs do in one transaction of the store and creates the store when there is
// none: an operator may prepare a service before its first start. It says so on
// standard error, because usually --data is mistyped. do may run more than once, as
// every transaction may; it must not print.
func (f adminFlags) write(do func(ctx context.Context, tx *db.Tx) error) error {
	if f.exists() != nil {
		fmt.Fprintf(os.Stderr, "svc: there is no service's data in %s; creating it\n", f.Data)
	}
	return f.open(func(ctx context.Context, d *db.DB) error {
		return d.Write(ctx, func(tx *db.Tx) error { return do(ctx, tx) })
	})
}

// read runs do in one read transaction of an existing store.
func (f adminFlags) read(do func(ctx context.Context, tx *db.Tx) error) error {
	if err := f.exists(); err != nil {
		return err
	}
	return f.open(func(ctx context.Context, d *db.DB) error {
		return d.Read(ctx, func(tx *db.Tx) error { return do(ctx, tx) })
	})
}

// open opens the store as the service does, migrations included, and closes it after
// do.
func (f adminFlags) open(do func(ctx context.Context, d *db.DB) error) error {
	ctx := context.Background()
	service, err := app.Open(ctx, f.config())
	if err != nil {
		return err
	}
	defer func() { _ = service.Close() }()
	return do(ctx, service.DB)
}

// field is one line of a result for people, and one member of it for programs.
type field struct {
	name  string // the member's name; people read blanks for its underscores
	value any
}

// print writes a result for people, or with --json for programs, who also get "ok".
func (f adminFlags) print(k *kong.Context, fields ...field) error {
	if f.JSON {
		object := map[string]any{"ok": true}
		for _, l := range fields {
			object[l.name] = l.value
		}
		return terminal.PrintJSON(k.Stdout, object)
	}
	for _, l := range fields {
		terminal.Printf(k.Stdout, "%-14s %v", strings.ReplaceAll(l.name, "_", " "), l.value)
	}
	return nil
}
