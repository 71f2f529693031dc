package account

import (
	"fmt"
	"os"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/client"
	"svc.example/cmd/svc/profile"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/numbers"
	"svc.example/internal/ground/plaintext"
)

// Keys is svc keys: the agent keys of a workspace. All its commands take an account key.
type Keys struct {
	List   keysList   `cmd:"" help:"List the agent keys, including revoked ones."`
	Revoke keysRevoke `cmd:"" help:"Revoke an agent key immediately."`
}

// Help is printed below the flags.
func (Keys) Help() string {
	return "These commands take an account key (svc_…). Keys are made on the console's page of keys, or by the service's operator with svc admin key create."
}

type keysList struct {
	profile.Flags
	output
}

// Run lists the keys, newest first. No list has a secret.
func (c *keysList) Run(app *kong.Context) (err error) {
	api, err := c.Account()
	if err != nil {
		return err
	}
	ctx, stop := untilSignal(&err)
	defer stop()
	keys, err := api.AgentKeys(ctx)
	if err != nil {
		return err
	}
	return c.print(app, struct {
		OK   bool              `json:"ok"`
		Keys []client.AgentKey `json:"keys"`
	}{true, keys}, func() {
		if len(keys) == 0 {
			terminal.Printf(app.Stdout, "no agent keys")
			return
		}
		list := terminal.NewList(terminal.Column{Title: "KEY"}, terminal.Column{Title: "NAME", Cut: true}, terminal.Column{Title: "BEGINS", Spare: 2},
			terminal.Column{Title: "THIS MONTH", Spare: 1}, terminal.Column{Title: "STATE"})
		for _, k := range keys {
			spent := numbers.Dollars(k.SpentCents)
			if k.SpendLimitCents != nil {
				spent += " of " + numbers.Dollars(*k.SpendLimitCents)
			}
			list.Row(k.KeyID, k.Name, k.MaskedPrefix, spent, stateOf(k, time.Now()))
		}
		list.Print(app.Stdout)
	})
}

// stateOf says whether a key works, when it was used, and when it will expire.
func stateOf(k client.AgentKey, now time.Time) string {
	state := "never used"
	switch {
	case k.RevokedAt != nil:
		return "revoked " + terminal.Ago(*k.RevokedAt, now)
	case k.ExpiresAt != nil && !k.ExpiresAt.After(now):
		return "ended " + terminal.Ago(*k.ExpiresAt, now)
	case k.LastUsedAt != nil:
		state = "used " + terminal.Ago(*k.LastUsedAt, now)
	}
	if k.ExpiresAt == nil {
		return state
	}
	return state + ", ends " + k.ExpiresAt.UTC().Format(time.DateOnly)
}

type keysRevoke struct {
	profile.Flags
	output
	KeyID string `arg:"" name:"key-id" help:"The key's id, key_…, from svc keys list."`
	// Not from the environment: a yes that was meant for another command must not count.
	Yes bool `short:"y" env:"-" help:"Do not ask for confirmation. Required without a terminal."`
}

// Run ends a key, after a yes. A key that is not there, or has ended before, is the
// service's to refuse.
func (c *keysRevoke) Run(app *kong.Context) (err error) {
	api, err := c.Account()
	if err != nil {
		return err
	}
	ctx, stop := untilSignal(&err)
	defer stop()
	if !c.Yes {
		keys, err := api.AgentKeys(ctx)
		if err != nil {
			return err
		}
		for _, k := range keys {
			if k.KeyID != c.KeyID || k.RevokedAt != nil {
				continue
			}
			what := fmt.Sprintf("revoke the key %s (%s, %s): requests with it are refused from now on, and its open ones end. It cannot be undone", k.KeyID, plaintext.Line(k.Name), k.MaskedPrefix)
			if err := terminal.Confirm(ctx, os.Stdin, app.Stderr, what); err != nil {
				return err
			}
		}
	}
	if err := api.RevokeAgentKey(ctx, c.KeyID); err != nil {
		return err
	}
	return c.print(app, struct {
		OK      bool   `json:"ok"`
		KeyID   string `json:"key_id"`
		Revoked bool   `json:"revoked"`
	}{true, c.KeyID, true}, func() { terminal.Printf(app.Stdout, "revoked %s", c.KeyID) })
}
