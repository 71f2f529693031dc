package operator

import (
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/app"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/ratelimit"
)

// RateFlags limit how many requests a client may make (decisions 13).
type RateFlags struct {
	RatePerMinute int `env:"SVC_RATE_PER_MINUTE" default:"60" help:"Requests per minute that a client may make in the long run. 0 means no limit."`
	RateBurst     int `env:"SVC_RATE_BURST" default:"20" help:"Requests that a client may make in one burst."`
	TrustedHops   int `env:"SVC_TRUSTED_HOPS" default:"0" help:"Number of proxies in front of the service whose X-Forwarded-For is trusted."`
}

// Limit sets the limits of the API and with them those of the workers' API, which are
// not configurable; without a limit on the one there is none on the other. The upper
// bound of 60 million a minute is one request per microsecond. Error: wrong usage.
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

// PublishedRate returns the limits that the interface publishes, without a proxy.
func PublishedRate() RateFlags {
	return RateFlags{RatePerMinute: contract.RatePerMinute, RateBurst: contract.RateBurst}
}
