package operator

import (
	"fmt"
	"net/netip"
	"os"
	"time"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/app"
	"svc.example/internal/ground/outbound"
)

// webhookFlags say how long webhooks are remembered, and let them call where they
// otherwise never do: receivers of tests.
type webhookFlags struct {
	Keep      time.Duration  `name:"webhook-keep" env:"SVC_WEBHOOK_KEEP" default:"720h" help:"How long webhook events and the log of their deliveries are kept, and can be sent again. At least 24h."`
	AllowCIDR []netip.Prefix `name:"webhook-allow-cidr" env:"SVC_WEBHOOK_ALLOW_CIDR" placeholder:"CIDR" help:"Let webhooks call these addresses although they are not public, such as 127.0.0.0/8. For tests only."`
	CA        string         `name:"webhook-ca" env:"SVC_WEBHOOK_CA" type:"existingfile" placeholder:"FILE" help:"Trust these certificates (PEM) too when webhooks are sent. For tests only."`
}

// leastKeep leaves an owner a day to see what failed.
const leastKeep = 24 * time.Hour

// let puts what the flags say into cfg.
func (f webhookFlags) let(cfg *app.Config) error {
	for _, p := range f.AllowCIDR {
		if p != p.Masked() {
			return terminal.WrongUsagef("--webhook-allow-cidr %s is no range; %s is", p, p.Masked())
		}
	}
	if f.Keep < leastKeep {
		return terminal.WrongUsagef("--webhook-keep %s is less than %s", f.Keep, leastKeep)
	}
	cfg.WebhookLife = f.Keep
	cfg.Webhooks.Allow = f.AllowCIDR
	if f.CA == "" {
		return nil
	}
	pem, err := os.ReadFile(f.CA)
	if err != nil {
		return fmt.Errorf("read --webhook-ca: %w", err)
	}
	if cfg.Webhooks.Roots, err = outbound.Roots(pem); err != nil {
		return terminal.WrongUsagef("--webhook-ca %s: %w", f.CA, err)
	}
	return nil
}
