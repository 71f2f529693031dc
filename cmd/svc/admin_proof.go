package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/receipt/signing"
)

type proofPageCmd struct {
	adminFlags
	Workspace string `required:"" help:"Workspace id."`
	On        bool   `xor:"show" required:"" help:"Show them; so it is at first."`
	Off       bool   `xor:"show" required:"" help:"Answer 404."`
}

func (c *proofPageCmd) Run(k *kong.Context) error {
	err := c.change(func(ctx context.Context, tx *db.Tx) error { return identity.ShowProofs(ctx, tx, c.Workspace, c.On) })
	if err != nil {
		return err
	}
	return c.print(k, field{"workspace_id", c.Workspace}, field{"proof_page", c.On})
}

type signingKeyRotateCmd struct {
	adminFlags
	Overlap time.Duration `default:"24h" help:"How long the old keys stay valid, for processes that cannot read the new one yet."`
}

func (c *signingKeyRotateCmd) Run(k *kong.Context) error {
	if c.Overlap < 0 {
		return exitError{errors.New("--overlap is negative"), exitUsage}
	}
	if err := c.there(); err != nil {
		return err
	}
	ctx := context.Background()
	house, err := app.Open(ctx, c.config())
	if err != nil {
		return err
	}
	defer func() { _ = house.Close() }()
	next, err := house.Keys.Make(rand.Reader)
	if err != nil {
		return err
	}
	if err := house.DB.Write(ctx, func(tx *db.Tx) error { return house.Keys.Rotate(ctx, tx, next, c.Overlap) }); err != nil {
		return fmt.Errorf("rotate the signing key: %w", err)
	}
	return c.print(k, field{"key_id", next.Public().ID()}, field{"overlap", c.Overlap.String()})
}

type signingKeyRetireCmd struct {
	adminFlags
	KeyID string        `arg:"" help:"The key's id: 64 hex digits."`
	After time.Duration `help:"In how long it ends."`
}

func (c *signingKeyRetireCmd) Run(k *kong.Context) error {
	err := c.change(func(ctx context.Context, tx *db.Tx) error { return signing.Retire(ctx, tx, c.KeyID, c.After) })
	if err != nil {
		return err
	}
	return c.print(k, field{"key_id", c.KeyID}, field{"after", c.After.String()})
}
