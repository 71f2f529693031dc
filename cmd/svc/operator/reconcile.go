package operator

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/app"
	"svc.example/internal/ground/numbers"
	"svc.example/internal/work/payment"
)

// reconcile is svc admin reconcile: it compares the payment provider with the store.
type reconcile struct {
	viewFlags
	From string `placeholder:"DATE" help:"First day, such as 2026-01-31, in UTC. Without it, 30 days before --to."`
	To   string `placeholder:"DATE" help:"Day after the last one. Default: now."`

	StripeKey string `env:"SVC_STRIPE_KEY" placeholder:"KEY" help:"Secret key of the Stripe account. Set it in the environment."`
	StripeURL string `name:"stripe-url" env:"SVC_STRIPE_URL" placeholder:"URL" help:"URL of Stripe's API, for tests. Default: Stripe's own."`
}

// span reads the days.
func (c *reconcile) span(now time.Time) (since, until time.Time, err error) {
	until = now
	if c.To != "" {
		if until, err = time.Parse(time.DateOnly, c.To); err != nil {
			return since, until, terminal.WrongUsagef("--to %q is not a date such as 2026-01-31", c.To)
		}
	}
	since = until.AddDate(0, 0, -30)
	if c.From != "" {
		if since, err = time.Parse(time.DateOnly, c.From); err != nil {
			return since, until, terminal.WrongUsagef("--from %q is not a date such as 2026-01-31", c.From)
		}
	}
	if !since.Before(until) {
		err = terminal.WrongUsage(errors.New("--from must be before --to"))
	}
	return since, until, err
}

// Run prints each difference between the provider's pages, the rows and the ledger. Any
// difference exits with 1, after everything is printed. It changes nothing, and the service
// may run meanwhile.
func (c *reconcile) Run(k *kong.Context) error {
	ctx, stop := terminal.UntilSignal()
	defer stop()
	const lost = "there is no result, and nothing was changed"
	since, until, err := c.span(time.Now())
	if err != nil {
		return err
	}
	found, err := c.compare(ctx, &since, &until)
	if err != nil {
		return terminal.Interrupted(ctx, err, lost)
	}
	if c.JSON {
		err = terminal.PrintJSON(k.Stdout, map[string]any{
			"ok": len(found.Differences) == 0, "from": since.UTC().Format(time.RFC3339), "to": until.UTC().Format(time.RFC3339), "pages": found.Pages, "top_ups": found.TopUps,
			"paid_cents": found.PaidCents, "refunded_cents": found.RefundedCents, "disputed_cents": found.DisputedCents,
			"differences": append([]app.Difference{}, found.Differences...),
		})
	} else {
		for _, d := range found.Differences {
			terminal.Printf(k.Stdout, "DIFFERENCE %s %s: %s", d.TopUpID, d.SessionID, d.What)
		}
		terminal.Printf(k.Stdout, "%s at the provider, %s: %s paid, %s refunded, %s disputed; %s", terminal.CountOf(found.Pages, "page"), terminal.CountOf(found.TopUps, "top-up"),
			numbers.Dollars(found.PaidCents), numbers.Dollars(found.RefundedCents), numbers.Dollars(found.DisputedCents), terminal.CountOf(len(found.Differences), "difference"))
	}
	if err == nil && len(found.Differences) > 0 {
		err = terminal.Exit(terminal.ExitFailure, fmt.Errorf("the payment provider and the store have %s", terminal.CountOf(len(found.Differences), "difference")))
	}
	return terminal.Told(err)
}

// compare asks the payment provider, or the service, which also says which time it compared.
func (c *reconcile) compare(ctx context.Context, since, until *time.Time) (found payment.Reconciled, err error) {
	if c.remote() {
		answer := struct {
			From, To *time.Time
			*payment.Reconciled
		}{since, until, &found}
		err = c.view("/reconciliation", url.Values{"from": {c.From}, "to": {c.To}}, &answer, nil)
		return found, err
	}
	if c.StripeKey == "" {
		return found, terminal.WrongUsage(errors.New("no payment provider is configured: set SVC_STRIPE_KEY"))
	}
	cfg := c.config()
	cfg.Stripe = &app.Stripe{Key: c.StripeKey, URL: c.StripeURL}
	service, err := app.OpenReading(ctx, cfg)
	if err != nil {
		return found, c.refusal(err)
	}
	defer func() { _ = service.Close() }()
	return service.Reconcile(ctx, *since, *until)
}
