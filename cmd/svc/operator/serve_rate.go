package operator

import (
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/app"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/ratelimit"
)

// RateFlags say how many requests a client may make.
type RateFlags struct {
	RatePerMinute int `env:"SVC_RATE_PER_MINUTE" default:"60" help:"Requests a minute that a client may make in the long run; 0 = any number."`
	RateBurst     int `env:"SVC_RATE_BURST" default:"20" help:"Requests that a client may make at once."`
	TrustedHops   int `env:"SVC_TRUSTED_HOPS" default:"0" help:"Proxies in front of the service whose X-Forwarded-For is believed."`
}

// Limit sets the limits of the API, and with them that of the workers' API.
func (f RateFlags) Limit(cfg *app.Config) error {
	if f.RatePerMinute < 0 || f.RatePerMinute > 60_000_000 || f.RateBurst < 1 || f.TrustedHops < 0 {
		return terminal.WrongUsagef("--rate-per-minute must be 0 to 60000000, --rate-burst 1 or more, --trusted-hops 0 or more")
	}
	if cfg.TrustedHops = f.TrustedHops; f.RatePerMinute == 0 {
		return nil
	}
	cfg.Rate = ratelimit.Policy{PerMinute: f.RatePerMinute, Burst: f.RateBurst}
	cfg.FarmRate = ratelimit.Policy{PerMinute: contract.FarmPerMinute, Burst: contract.FarmBurst}
	return nil
}

// PublishedRate are the contract's figures.
func PublishedRate() RateFlags {
	return RateFlags{RatePerMinute: contract.RatePerMinute, RateBurst: contract.RateBurst}
}
