package account

import (
	"fmt"
	"os"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/client"
	"svc.example/cmd/svc/profile"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/plaintext"
)

// Keys is svc keys: the agent keys of a workspace. All its commands take an account key.
type Keys struct {
	List   keysList   `cmd:"" help:"List the agent keys, revoked ones too."`
	Create keysCreate `cmd:"" help:"Make an agent key. Its secret is printed this once."`
	Revoke keysRevoke `cmd:"" help:"End an agent key at once."`
}

// Help is printed below the flags.
func (Keys) Help() string {
	return "These commands take an account key (svc_…). The service's operator makes account keys, with svc admin key create --kind account."
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
			spent := terminal.Money(k.SpentCents, "USD")
			if k.SpendLimitCents != nil {
				spent = fmt.Sprintf("%d.%02d of %s", k.SpentCents/100, k.SpentCents%100, terminal.Money(*k.SpendLimitCents, "USD"))
			}
			list.Row(k.KeyID, k.Name, k.MaskedPrefix, spent, stateOf(k, time.Now()))
		}
		list.Print(app.Stdout)
	})
}

// stateOf says whether a key works, when it was used, and when it will end by itself.
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

type keysCreate struct {
	profile.Flags
	output
	Name            string `arg:"" help:"What the key is called: 1 to 80 characters."`
	SpendLimitCents *int64 `env:"-" placeholder:"CENTS" help:"What the key may spend in a calendar month (UTC). Without it, as much as the wallet has."`
	ExpiresInDays   int    `env:"-" placeholder:"DAYS" help:"After how many days the key ends: 1 to 3650. Without it, when it is revoked."`
	Test            bool   `env:"-" help:"Make a key of test mode: nothing is rendered, nobody pays, and pictures come within a second."`
}

// Run makes a key. Only the secret goes to standard output, so that a script can take
// it.
func (c *keysCreate) Run(app *kong.Context) (err error) {
	if c.SpendLimitCents != nil && *c.SpendLimitCents < 0 {
		return terminal.WrongUsagef("--spend-limit-cents is %d; it must be 0 or more", *c.SpendLimitCents)
	}
	if c.ExpiresInDays < 0 || c.ExpiresInDays > 3650 {
		return terminal.WrongUsagef("--expires-in-days is %d; it must be 1 to 3650", c.ExpiresInDays)
	}
	api, err := c.Account()
	if err != nil {
		return err
	}
	ctx, stop := untilSignal(&err)
	defer stop()
	made, err := api.CreateAgentKey(ctx, client.AgentKeyTerms{Name: c.Name, SpendLimitCents: c.SpendLimitCents, ExpiresInDays: c.ExpiresInDays, Test: c.Test})
	if err != nil {
		return err
	}
	return c.print(app, struct {
		OK bool `json:"ok"`
		*client.NewAgentKey
	}{true, made}, func() {
		terminal.Printf(app.Stderr, "made %s (%s). This is the only time that its secret is shown:", made.KeyID, made.Name)
		terminal.Printf(app.Stdout, "%s", made.Key)
	})
}

type keysRevoke struct {
	profile.Flags
	output
	KeyID string `arg:"" name:"key-id" help:"The key's id, key_…, from svc keys list."`
	// Not from the environment: a yes that was meant for another command must not count.
	Yes bool `short:"y" env:"-" help:"Do it without being asked. Needed where there is no terminal."`
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
