package operator

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/numbers"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/operator"
)

// keyCreate is svc admin key create.
type keyCreate struct {
	adminFlags
	served
	Kind            string `required:"" enum:"account,agent,node" help:"What the key is for: account, agent or node."`
	Workspace       string `help:"Workspace id, for account and agent keys."`
	Name            string `required:"" help:"Name of the key, 1 to 80 characters."`
	SpendLimitCents int64  `default:"-1" help:"Most that an agent key may spend per calendar month, in cents. -1 means no limit."`
}

// Run makes a key and prints its secret, which is stored only as a hash and cannot be
// shown again. A node key needs no workspace and may be made before the service's
// first start; the other kinds need one that exists.
func (c *keyCreate) Run(k *kong.Context) error {
	if (c.Kind == "node") != (c.Workspace == "") {
		return terminal.WrongUsagef("account and agent keys need --workspace; node keys take none")
	}
	made := operator.MadeKey{}
	err := c.make(&made)
	if err != nil {
		return err
	}
	return c.print(k, field{"key_id", made.KeyID}, field{"kind", c.Kind}, field{"name", made.Name}, field{"key", made.Key})
}

// make makes the key next to the store, or by a service.
func (c *keyCreate) make(made *operator.MadeKey) error {
	var limit *int64
	if c.Kind == "agent" && c.SpendLimitCents >= 0 {
		limit = &c.SpendLimitCents
	}
	if c.remote() {
		create := call{method: http.MethodPost, path: "/admin/v1/keys", body: map[string]any{"name": c.Name}}
		if c.Kind != "node" {
			body := map[string]any{"kind": c.Kind, "name": c.Name}
			if limit != nil {
				body["spend_limit_cents"] = *limit
			}
			create.path, create.body = "/admin/v1/workspaces"+part(c.Workspace)+"/keys", body
		}
		return c.ask(context.Background(), create, made)
	}
	store := c.add
	if c.Kind == "node" {
		store = c.write
	}
	var key identity.NewKey
	err := store(func(ctx context.Context, tx *db.Tx) error {
		act, err := operator.CreateNodeKey(c.Name, &key), error(nil)
		if c.Kind != "node" {
			act, err = operator.CreateKey(ctx, tx, c.Workspace, c.Kind, c.Name, limit, &key)
		}
		if err != nil {
			return err
		}
		return act.Perform(ctx, tx, operator.Account(whoami()))
	})
	made.KeyID, made.Name, made.Key = key.KeyID, key.Name, key.Secret
	return err
}

// keyRevoke is svc admin key revoke.
type keyRevoke struct {
	actFlags
	KeyID string `arg:"" help:"The key's id, key_…"`
}

// Run ends a key: the next request with it is refused. svc admin operator-key revoke ends only
// operator keys. Error: key_not_found when there is no active key of this id, as after a first call.
func (c *keyRevoke) Run(k *kong.Context) error {
	path, act := "/keys", operator.RevokeKey(c.KeyID)
	if strings.HasPrefix(k.Command(), "admin operator-key ") {
		path, act = "/operator-keys", operator.RevokeOperatorKey(c.KeyID)
	}
	err := c.act(call{method: http.MethodDelete, path: path + part(c.KeyID)}, nil, to(act), nil)
	if err != nil {
		return err
	}
	return c.print(k, field{"key_id", c.KeyID}, field{"revoked", true})
}

// keyList is svc admin key list. It shows the ids of keys, so that a key whose id
// was not noted can be revoked.
type keyList struct {
	viewFlags
	Workspace string `help:"List the account and agent keys of this workspace instead of the workers' keys."`
}

// spending is what an agent key has spent this month, and of how much.
func spending(k operator.ListedKey) string {
	switch {
	case k.Kind != "agent":
		return "-"
	case k.SpendLimitCents == nil:
		return numbers.Dollars(k.SpentCents)
	}
	return numbers.Dollars(k.SpentCents) + " of " + numbers.Dollars(*k.SpendLimitCents)
}

// Run lists active and revoked keys. Error: workspace_not_found.
func (c *keyList) Run(k *kong.Context) error {
	path := "/keys"
	if c.Workspace != "" {
		path = "/workspaces" + part(c.Workspace) + "/keys"
	}
	var answer operator.KeyList
	err := c.view(path, nil, &answer, func(ctx context.Context, tx *db.Tx) (err error) {
		answer, err = operator.KeysList(ctx, tx, c.Workspace)
		return err
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return terminal.PrintJSON(k.Stdout, answer)
	}
	listOfKeys(answer.Keys).Print(k.Stdout)
	return nil
}

// listOfKeys is what people see of keys.
func listOfKeys(keys []operator.ListedKey) *terminal.List {
	list := terminal.NewList(terminal.Column{Title: "KEY ID"}, terminal.Column{Title: "KIND"}, terminal.Column{Title: "NAME", Cut: true},
		terminal.Column{Title: "BEGINS WITH", Spare: 2}, terminal.Column{Title: "CREATED", Spare: 3}, terminal.Column{Title: "LAST USED", Spare: 1},
		terminal.Column{Title: "THIS MONTH"}, terminal.Column{Title: "ENDS"}, terminal.Column{Title: "REVOKED"})
	for _, key := range keys {
		list.Row(key.KeyID, key.Kind, key.Name, key.MaskedPrefix, key.CreatedAt.Format(time.DateTime), dateOf(key.LastUsedAt), spending(key), dateOf(key.ExpiresAt), dateOf(key.RevokedAt))
	}
	return list
}

// dateOf formats a time that may not be set.
func dateOf(at *time.Time) string {
	if at == nil {
		return "-"
	}
	return at.Format(time.DateTime)
}
