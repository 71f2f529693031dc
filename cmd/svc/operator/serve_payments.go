package operator

import (
	"errors"
	"strings"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/app"
)

// paymentFlags configure who collects payments into wallets. Secrets belong in the
// environment or the configuration file: other users of the machine can read a command
// line.
type paymentFlags struct {
	StripeKey     string `env:"SVC_STRIPE_KEY" placeholder:"KEY" help:"Secret key of the Stripe account that collects payments into wallets. Without it, operators add credit by hand."`
	StripeSecrets string `name:"stripe-webhook-secrets" env:"SVC_STRIPE_WEBHOOK_SECRETS" placeholder:"SECRETS" help:"Signing secret of Stripe's events for the endpoint /v1/payments/stripe. Give two, separated by a comma, while you replace one."`
	StripeURL     string `name:"stripe-url" env:"SVC_STRIPE_URL" placeholder:"URL" help:"URL of Stripe's API, for tests. Default: Stripe's own."`
}

// apply sets the flags in cfg. A key without a secret is wrong usage: payments would be
// taken and credited an hour later.
func (f paymentFlags) apply(cfg *app.Config) error {
	if f.StripeKey == "" && f.StripeSecrets == "" && f.StripeURL == "" {
		return nil
	}
	secrets := strings.Split(f.StripeSecrets, ",")
	for i := range secrets {
		secrets[i] = strings.TrimSpace(secrets[i])
		if secrets[i] == "" {
			return terminal.WrongUsage(errors.New("--stripe-key and --stripe-webhook-secrets go together"))
		}
	}
	if f.StripeKey == "" || len(secrets) > 2 {
		return terminal.WrongUsage(errors.New("--stripe-webhook-secrets takes one or two secrets, and needs --stripe-key"))
	}
	cfg.Stripe = &app.Stripe{Key: f.StripeKey, Secrets: secrets, URL: f.StripeURL}
	return nil
}
