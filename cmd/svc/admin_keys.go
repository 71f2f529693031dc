package main

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/internal/ground/db"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/wallet"
)

// keyListCmd lists keys, so that one whose id nobody has noted can be revoked.
type keyListCmd struct {
	adminFlags
	Workspace string `help:"List the account and agent keys of this workspace instead of the workers' keys."`
}

// listedKey is a key as --json tells it.
type listedKey struct {
	KeyID      string     `json:"key_id"`
	Kind       string     `json:"kind"`
	Name       string     `json:"name"`
	Prefix     string     `json:"masked_prefix"`
	CreatedAt  time.Time  `json:"created_at"`
	LastUsedAt *time.Time `json:"last_used_at"`
	RevokedAt  *time.Time `json:"revoked_at"`
}

func (c *keyListCmd) Run(k *kong.Context) error {
	listed := []listedKey{}
	add := func(kind string, keys []identity.Key, err error) error {
		for _, key := range keys {
			listed = append(listed, listedKey{key.KeyID, kind, key.Name, key.MaskedPrefix, key.CreatedAt, key.LastUsedAt, key.RevokedAt})
		}
		return err
	}
	err := c.read(func(ctx context.Context, tx *db.Tx) error {
		listed = listed[:0]
		if c.Workspace == "" {
			keys, err := identity.NodeKeys(ctx, tx)
			return add("node", keys, err)
		}
		if _, err := wallet.Get(ctx, tx, c.Workspace); err != nil { // there is such a workspace
			return err
		}
		accounts, err := identity.AccountKeys(ctx, tx, c.Workspace)
		if err := add("account", accounts, err); err != nil {
			return err
		}
		agents, err := identity.AgentKeys(ctx, tx, c.Workspace)
		return add("agent", agents, err)
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(k.Stdout, map[string]any{"ok": true, "keys": listed})
	}
	table := tabwriter.NewWriter(k.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "KEY ID\tKIND\tNAME\tBEGINS WITH\tCREATED\tLAST USED\tREVOKED")
	for _, key := range listed {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n",
			key.KeyID, key.Kind, key.Name, key.Prefix, key.CreatedAt.Format(time.DateTime), dateOf(key.LastUsedAt), dateOf(key.RevokedAt))
	}
	return table.Flush()
}

// dateOf shows a time that may not have been.
func dateOf(at *time.Time) string {
	if at == nil {
		return "-"
	}
	return at.Format(time.DateTime)
}
