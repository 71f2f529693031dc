package operator

import (
	"context"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/db"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/operator"
)

// operatorKeyCreate is svc admin operator-key create.
type operatorKeyCreate struct {
	adminFlags
	Name  string `required:"" help:"Name of the key, 1 to 80 characters."`
	Scope string `enum:"read,write" default:"read" help:"What the key may do: read sees everything, and write also acts."`
	Days  int    `help:"After how many days the key ends, 1 to 3650. Without it, it works until it is revoked."`
}

// mostKeyDays bounds the life of a key.
const mostKeyDays = 3650

// Run makes a key and prints its secret. Errors: invalid_key_name, key_limit_reached.
func (c *operatorKeyCreate) Run(k *kong.Context) error {
	if c.Days < 0 || c.Days > mostKeyDays {
		return terminal.WrongUsagef("--days is %d; it must be 1 to %d", c.Days, mostKeyDays)
	}
	var key identity.NewKey
	err := c.write(func(ctx context.Context, tx *db.Tx) error {
		act := operator.CreateOperatorKey(c.Name, identity.OperatorScope(c.Scope), time.Duration(c.Days)*24*time.Hour, &key)
		return act.Perform(ctx, tx, operator.Account(whoami()))
	})
	if err != nil {
		return err
	}
	fields := []field{{"key_id", key.KeyID}, {"name", key.Name}, {"scope", c.Scope}, {"key", key.Secret}}
	switch {
	case c.JSON:
		fields = append(fields, field{"expires_at", key.ExpiresAt})
	case key.ExpiresAt != nil:
		fields = append(fields, field{"ends", dateOf(key.ExpiresAt)})
	}
	return c.print(k, fields...)
}

// operatorKeyList is svc admin operator-key list.
type operatorKeyList struct{ viewFlags }

// Run lists active and revoked keys.
func (c *operatorKeyList) Run(k *kong.Context) error {
	answer := operator.OperatorKeyList{OK: true}
	err := c.view("/operator-keys", nil, &answer, func(ctx context.Context, tx *db.Tx) (err error) {
		answer.Keys, err = identity.OperatorKeys(ctx, tx)
		return err
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return terminal.PrintJSON(k.Stdout, answer)
	}
	if len(answer.Keys) == 0 {
		terminal.Printf(k.Stdout, "there are no operator keys")
		return nil
	}
	list := terminal.NewList(terminal.Column{Title: "KEY ID"}, terminal.Column{Title: "NAME", Cut: true}, terminal.Column{Title: "SCOPE"},
		terminal.Column{Title: "BEGINS WITH", Spare: 2}, terminal.Column{Title: "CREATED", Spare: 3}, terminal.Column{Title: "LAST USED", Spare: 1},
		terminal.Column{Title: "ENDS"}, terminal.Column{Title: "REVOKED"})
	for _, key := range answer.Keys {
		list.Row(key.KeyID, key.Name, string(key.Scope), key.MaskedPrefix, key.CreatedAt.Format(time.DateTime), dateOf(key.LastUsedAt), dateOf(key.ExpiresAt), dateOf(key.RevokedAt))
	}
	list.Print(k.Stdout)
	return nil
}
