package operator

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/work/receipt/signing"
)

// signingKeyRotate is svc admin signing-key rotate.
type signingKeyRotate struct {
	adminFlags
	Overlap time.Duration `default:"24h" help:"How long the old keys stay valid, for processes that do not have the new key yet."`
}

// Run makes a key in the folder first and then publishes it, so that no published key
// is ever without its file. A crash in between leaves an unused file. The old keys end
// after the overlap; their signatures stay valid.
func (c *signingKeyRotate) Run(k *kong.Context) error {
	if c.Overlap < 0 {
		return terminal.WrongUsage(errors.New("--overlap is negative"))
	}
	if err := c.exists(); err != nil {
		return err
	}
	ctx := context.Background()
	service, err := app.Open(ctx, c.config())
	if err != nil {
		return err
	}
	defer func() { _ = service.Close() }()
	next, err := service.Keys.Make(rand.Reader)
	if err != nil {
		return err
	}
	if err := service.DB.Write(ctx, func(tx *db.Tx) error { return service.Keys.Rotate(ctx, tx, next, c.Overlap) }); err != nil {
		return fmt.Errorf("rotate the signing key: %w", err)
	}
	return c.print(k, field{"key_id", next.Public().ID()}, field{"overlap", c.Overlap.String()})
}

// signingKeyRetire is svc admin signing-key retire.
type signingKeyRetire struct {
	adminFlags
	KeyID string        `arg:"" help:"The key's id: 64 hex digits."`
	After time.Duration `help:"Delay until the key ends, such as 24h. Without it, the key ends at once."`
}

// Run ends a published key. It refuses to end the last one (signing.ErrLastKey):
// without a key no job could complete.
func (c *signingKeyRetire) Run(k *kong.Context) error {
	err := c.change(func(ctx context.Context, tx *db.Tx) error { return signing.Retire(ctx, tx, c.KeyID, c.After) })
	if err != nil {
		return err
	}
	return c.print(k, field{"key_id", c.KeyID}, field{"after", c.After.String()})
}
