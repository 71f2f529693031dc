package operator

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/work/operator"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/receipt/signing"
)

// signingKeyList is svc admin signing-key list.
type signingKeyList struct{ viewFlags }

// Run lists the published keys, the newest first, ended ones included. Next to the store, it says
// which private halves are in the data folder.
func (c *signingKeyList) Run(k *kong.Context) error {
	var answer operator.SigningKeyList
	err := c.view("/signing-keys", nil, &answer, func(ctx context.Context, tx *db.Tx) error {
		ring, err := signing.Read(c.keys())
		if err != nil {
			return err
		}
		answer, err = operator.SigningKeysList(ctx, tx)
		for i, key := range answer.Keys {
			answer.Keys[i].Here = new(ring.Holds(key.KeyID))
		}
		return err
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return terminal.PrintJSON(k.Stdout, answer)
	}
	list := terminal.NewList(terminal.Column{Title: "KEY ID"}, terminal.Column{Title: "VALID FROM"}, terminal.Column{Title: "VALID TO"}, terminal.Column{Title: "END"}, terminal.Column{Title: "PRIVATE HALF"})
	for _, key := range answer.Keys {
		where := "elsewhere"
		switch {
		case key.Here == nil:
			where = "-"
		case *key.Here:
			where = "here"
		}
		list.Row(key.KeyID, key.ValidFrom.Format(time.DateTime), dateOf(key.ValidTo), endOf(key), where)
	}
	list.Print(k.Stdout)
	return nil
}

// endOf says why and where in the log a key ended.
func endOf(key operator.ListedSigningKey) string {
	switch {
	case key.EndReason == nil:
		return "none"
	case key.EndSize == nil:
		return *key.EndReason
	}
	return fmt.Sprintf("%s, before leaf %d", *key.EndReason, *key.EndSize)
}

// keys is the folder of the service's keys.
func (s store) keys() string { return filepath.Join(s.Data, "keys") }

// signingKeyRotate is svc admin signing-key rotate.
type signingKeyRotate struct {
	changeFlags
	Overlap time.Duration `default:"24h" help:"How long the old keys stay valid, for processes that do not have the new key yet. Compromised keys end immediately."`
	keyEndFlags
}

// keyEndFlags say why a key ends.
type keyEndFlags struct {
	Reason string `default:"superseded" enum:"superseded,compromised" help:"Why the key ends: superseded if nobody else had it, compromised if somebody may have it. It is published in the history of keys."`
}

// Run makes a key in the folder first and then publishes it, so that no published key
// is ever without its file. A crash in between leaves an unused file. The old keys end
// after the overlap; their signatures stay valid.
func (c *signingKeyRotate) Run(k *kong.Context) error {
	if c.Overlap < 0 {
		return terminal.WrongUsage(errors.New("--overlap is negative"))
	}
	ring, err := signing.Read(c.keys())
	if err != nil {
		return err
	}
	// Made once, after the yes, however often the transaction runs.
	next := sync.OnceValues(func() (signingkey.Key, error) { return ring.Make(rand.Reader) })
	var keyID string
	if c.Reason == receipt.Compromised {
		c.Overlap = 0
	}
	what := fmt.Sprintf("sign receipts with a new key from now on, and end the present ones in %s, as %s", terminal.Span(c.Overlap), c.Reason)
	err = c.change(to(operator.Act{What: what, Do: func(ctx context.Context, tx *db.Tx) error {
		key, err := next()
		if err != nil {
			return err
		}
		keyID = key.Public().ID()
		return ring.Rotate(ctx, tx, key, c.Overlap, c.Reason)
	}}), nil)
	if err != nil {
		return fmt.Errorf("rotate the signing key: %w", err)
	}
	return c.print(k, field{"key_id", keyID}, field{"overlap", c.Overlap.String()}, field{"reason", c.Reason})
}

// signingKeyEnd is svc admin signing-key end.
type signingKeyEnd struct {
	changeFlags
	KeyID string        `arg:"" help:"The key's id: 64 hex digits."`
	After time.Duration `help:"Delay until the key ends, such as 24h. Default: immediately. A compromised key always ends immediately."`
	keyEndFlags
}

// Run ends a published key. It refuses to end the last one (last_signing_key):
// without a key no job could complete.
func (c *signingKeyEnd) Run(k *kong.Context) error {
	if c.Reason == receipt.Compromised {
		c.After = 0
	}
	when := "now"
	if c.After > 0 {
		when = "in " + terminal.Span(c.After)
	}
	err := c.change(to(operator.EndSigningKey(c.KeyID, c.After, when, c.Reason)), nil)
	if err != nil {
		return err
	}
	return c.print(k, field{"key_id", c.KeyID}, field{"after", c.After.String()}, field{"reason", c.Reason})
}
