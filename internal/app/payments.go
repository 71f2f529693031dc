package app

import (
	"context"
	"time"

	"svc.example/internal/ground/links"
	"svc.example/internal/work/alert"
	"svc.example/internal/work/payment"
	"svc.example/internal/work/payment/stripeapi"
)

// Stripe is the account that collects payments into wallets.
type Stripe struct {
	Key     string
	Secrets []string // of its events, one or two
	URL     string   // of its API; "" means Stripe's own
}

// credited is what the provider's page names as the thing being paid for.
const credited = "Render credit"

// paymentsEvery is how often open top-ups are looked at that no event came of.
const paymentsEvery = 5 * time.Minute

// payments makes what takes payments; without a provider it refuses.
func (a *App) payments(at links.Links) *payment.Payments {
	p := &payment.Payments{DB: a.DB, Log: a.Config.Log, Pages: func(topUpID string) (success, cancel string) {
		return at.To(links.WalletPath + "?top_up=" + topUpID), at.To(links.WalletPath)
	}}
	if s := a.Config.Stripe; s != nil {
		p.Provider, p.Secrets = stripeapi.New(s.Key, s.URL, credited), s.Secrets
	}
	return p
}

// lowWallets mails people whose wallets run low.
func (a *App) lowWallets(at links.Links) alert.Notices {
	n := alert.Notices{DB: a.DB, Page: at.To(links.WalletPath), Log: a.Config.Log}
	if a.Config.Mail != nil {
		n.Send = a.Config.Mail.Send
	}
	return n
}

// Difference is one between the payment provider and the store.
type Difference = payment.Difference

// Reconcile compares the payment provider's pages of a time with the store. Errors:
// payments_unavailable, and a provider that does not answer.
func (a *App) Reconcile(ctx context.Context, since, until time.Time) (payment.Reconciled, error) {
	return a.payments(links.Links{}).Reconcile(ctx, since, until)
}

// sweepPayments returns the loop that asks the provider about top-ups of which no event
// came.
func (a *App) sweepPayments(p *payment.Payments) func(context.Context) {
	return func(ctx context.Context) {
		for pause(ctx, paymentsEvery) {
			if _, err := p.Sweep(ctx); err != nil && ctx.Err() == nil {
				a.Config.Log.Error("cannot ask about open top-ups", "err", err)
			}
		}
	}
}
