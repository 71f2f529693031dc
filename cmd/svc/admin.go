package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/wallet"
)

// adminCmd works on the store itself, beside a running service or without one.
type adminCmd struct {
	Workspace struct {
		Create    workspaceCreateCmd `cmd:"" help:"Make a workspace with an account key and an agent key."`
		ProofPage proofPageCmd       `cmd:"" help:"Show a workspace's receipts to who knows their ids, or end that."`
	} `cmd:"" help:"Workspaces."`
	Wallet struct {
		Credit walletCreditCmd `cmd:"" help:"Add money to a workspace's wallet."`
		Refund walletRefundCmd `cmd:"" help:"Give money that a job has paid back to its workspace."`
	} `cmd:"" help:"Wallets."`
	Key struct {
		Create keyCreateCmd `cmd:"" help:"Make a key; its secret is shown once."`
		List   keyListCmd   `cmd:"" help:"List the keys of workers, or of a workspace: ids, not secrets."`
		Revoke keyRevokeCmd `cmd:"" help:"End a key at once."`
	} `cmd:"" help:"Keys."`
	SigningKey struct {
		Rotate signingKeyRotateCmd `cmd:"" help:"Make a new key that signs receipts from now on."`
		Retire signingKeyRetireCmd `cmd:"" help:"End a key. What it has signed stays good."`
	} `cmd:"" help:"Keys that sign receipts and the log."`
	DeadLetter struct {
		List    deadLetterListCmd    `cmd:"" help:"List work of the server's own that failed too often: what, when and why."`
		Requeue deadLetterRequeueCmd `cmd:"" help:"Have such work done again, from now on."`
	} `cmd:"" help:"Work that failed too often and is tried no more."`
	Workers    workersCmd    `cmd:"" help:"List workers: state, device, sandbox, when they were last heard."`
	SignInLink signInLinkCmd `cmd:"" help:"Make a one-time link to sign in with."`
	Audit      auditCmd      `cmd:"" help:"Check money, frames, receipts, their log and files over the whole store; exit 1 on any breach."`
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
	house, err := app.Open(ctx, f.config())
	if err != nil {
		return err
	}
	defer func() { _ = house.Close() }()
	return do(ctx, house.DB)
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
		return printJSON(k.Stdout, object)
	}
	for _, l := range fields {
		fmt.Fprintf(k.Stdout, "%-14s %v\n", strings.ReplaceAll(l.name, "_", " "), l.value)
	}
	return nil
}

type workspaceCreateCmd struct {
	adminFlags
	Email       string `required:"" help:"Address of the person it is for."`
	CreditCents int64  `help:"Money to begin with, in cents."`
}

// Run makes the workspace. For somebody who has one it makes keys to it.
func (c *workspaceCreateCmd) Run(k *kong.Context) error {
	var p identity.Person
	var account, agent identity.NewKey
	err := c.write(func(ctx context.Context, tx *db.Tx) (err error) {
		if p, err = identity.CreateWorkspace(ctx, tx, c.Email); err != nil {
			return err
		}
		if account, err = identity.CreateAccountKey(ctx, tx, p.WorkspaceID, "first account key"); err != nil {
			return err
		}
		if agent, err = identity.CreateAgentKey(ctx, tx, p.WorkspaceID, "first agent key", nil); err != nil || c.CreditCents == 0 {
			return err
		}
		return wallet.Credit(ctx, tx, p.WorkspaceID, "operator "+id.New(id.Transaction), c.CreditCents)
	})
	if err != nil {
		return err
	}
	return c.print(k, field{"workspace_id", p.WorkspaceID}, field{"account_key", account.Secret}, field{"agent_key", agent.Secret}, field{"credit_cents", c.CreditCents})
}

type keyCreateCmd struct {
	adminFlags
	Kind            string `required:"" enum:"account,agent,node" help:"account, agent or node."`
	Workspace       string `help:"Workspace id, for account and agent keys."`
	Name            string `required:"" help:"What the key is called, 1 to 80 characters."`
	SpendLimitCents int64  `default:"-1" help:"What an agent key may spend a month, in cents; -1 = no limit."`
}

func (c *keyCreateCmd) Run(k *kong.Context) error {
	if (c.Kind == "node") != (c.Workspace == "") {
		return exitError{fmt.Errorf("account and agent keys need --workspace, node keys have none"), exitUsage}
	}
	var key identity.NewKey
	store := c.change
	if c.Kind == "node" {
		store = c.write
	}
	err := store(func(ctx context.Context, tx *db.Tx) (err error) {
		if c.Kind == "node" {
			key, err = identity.CreateNodeKey(ctx, tx, c.Name)
			return err
		}
		if _, err = wallet.Get(ctx, tx, c.Workspace); err != nil { // there is such a workspace
			return err
		}
		if c.Kind == "account" {
			key, err = identity.CreateAccountKey(ctx, tx, c.Workspace, c.Name)
			return err
		}
		var limit *int64
		if c.SpendLimitCents >= 0 {
			limit = &c.SpendLimitCents
		}
		key, err = identity.CreateAgentKey(ctx, tx, c.Workspace, c.Name, limit)
		return err
	})
	if err != nil {
		return err
	}
	return c.print(k, field{"key_id", key.KeyID}, field{"kind", c.Kind}, field{"name", key.Name}, field{"key", key.Secret})
}

type keyRevokeCmd struct {
	adminFlags
	KeyID string `arg:"" help:"The key's id, key_…"`
}

func (c *keyRevokeCmd) Run(k *kong.Context) error {
	err := c.change(func(ctx context.Context, tx *db.Tx) error { return identity.Revoke(ctx, tx, c.KeyID) })
	if err != nil {
		return err
	}
	return c.print(k, field{"key_id", c.KeyID}, field{"revoked", true})
}

type signInLinkCmd struct {
	adminFlags
	Email     string `required:"" help:"Address of the person."`
	PublicURL string `env:"SVC_PUBLIC_URL" default:"http://127.0.0.1:8080" help:"How people reach the service."`
}

func (c *signInLinkCmd) Run(k *kong.Context) error {
	var token string
	err := c.write(func(ctx context.Context, tx *db.Tx) (err error) {
		token, err = identity.CreateSignInLink(ctx, tx, c.Email)
		return err
	})
	if err != nil {
		return err
	}
	return c.print(k, field{"link", links.Links{PublicURL: strings.TrimRight(c.PublicURL, "/")}.SignIn(token)}, field{"minutes", 15})
}

type auditCmd struct{ adminFlags }

func (c *auditCmd) Run(k *kong.Context) error {
	if err := c.there(); err != nil {
		return err
	}
	ctx := context.Background()
	house, err := app.Open(ctx, c.config())
	if err != nil {
		return err
	}
	defer func() { _ = house.Close() }()
	found, err := house.Audit(ctx)
	if err != nil {
		return err
	}
	dead, err := deadLetterCount(ctx, house.DB)
	if err != nil {
		return err
	}
	if c.JSON {
		err = printJSON(k.Stdout, map[string]any{
			"ok": len(found.Breaches) == 0, "jobs": found.Jobs, "wallets": found.Wallets, "receipts": found.Receipts, "benchmarks": found.Benchmarks, "leaves": found.Leaves, "dead_letters": dead, "breaches": found.Breaches,
		})
	} else {
		for _, b := range found.Breaches {
			fmt.Fprintf(k.Stdout, "BREACH %s: %s: %s\n", b.Rule, b.Thing, b.Detail)
		}
		if dead > 0 {
			fmt.Fprintf(k.Stdout, "%d dead letters wait for you: svc admin dead-letter list\n", dead)
		}
		fmt.Fprintf(k.Stdout, "%d jobs, %d wallets, %d receipts, %d benchmark results, %d leaves in the log: %d breaches\n", found.Jobs, found.Wallets, found.Receipts, found.Benchmarks, found.Leaves, len(found.Breaches))
	}
	if err == nil && len(found.Breaches) > 0 {
		err = exitError{fmt.Errorf("the audit found %d breaches", len(found.Breaches)), exitFailure}
	}
	return err
}
