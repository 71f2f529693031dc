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

// webhookFlags set how long webhooks are kept, and allow receivers of tests: addresses
// and certificates that the service otherwise never trusts.
type webhookFlags struct {
	Keep      time.Duration  `name:"webhook-keep" env:"SVC_WEBHOOK_KEEP" default:"720h" help:"How long to keep webhook events and their delivery log. Kept events can be sent again. At least 24h."`
	AllowCIDR []netip.Prefix `name:"webhook-allow-cidr" env:"SVC_WEBHOOK_ALLOW_CIDR" placeholder:"CIDR" help:"Allow webhooks to call these non-public addresses, such as 127.0.0.0/8. For tests only."`
	CA        string         `name:"webhook-ca" env:"SVC_WEBHOOK_CA" type:"existingfile" placeholder:"FILE" help:"Also trust these certificates (PEM) when sending webhooks. For tests only."`
}

// minKeep leaves the owner of an endpoint a day to see what failed and send it again.
const minKeep = 24 * time.Hour

// apply sets the flags in cfg. A range with bits beyond its length is wrong usage: it
// would allow more addresses than the one that was typed.
func (f webhookFlags) apply(cfg *app.Config) error {
	for _, p := range f.AllowCIDR {
		if p != p.Masked() {
			return terminal.WrongUsagef("--webhook-allow-cidr %s is not a network; did you mean %s?", p, p.Masked())
		}
	}
	if f.Keep < minKeep {
		return terminal.WrongUsagef("--webhook-keep %s is less than %s", f.Keep, minKeep)
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
