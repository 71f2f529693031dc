package operator

import (
	"time"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/app"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/ratelimit"
)

// RateFlags limit how many requests a client may make (decisions 13).
type RateFlags struct {
	RatePerMinute int           `env:"SVC_RATE_PER_MINUTE" default:"60" help:"Requests per minute that a client may make on average. All clients of a workspace together may make five times as many. 0 means no limit."`
	RateBurst     int           `env:"SVC_RATE_BURST" default:"20" help:"Requests that a client may make in one burst. All clients of a workspace together may make five times as many."`
	WorkPerHour   time.Duration `env:"SVC_WORK_PER_HOUR" default:"30m" help:"How long the requests of one workspace or address may keep each process busy within an hour; transfers and waiting do not count. 0 means no limit."`
	CPUPerMinute  time.Duration `env:"SVC_CPU_PER_MINUTE" default:"30s" help:"Processor time that the requests of one workspace or address may use of each process within a minute. 0 means no limit."`
	TrustedHops   int           `env:"SVC_TRUSTED_HOPS" default:"0" help:"Number of proxies in front of the service whose X-Forwarded-For is trusted."`
}

// Limit sets the limits of the API and of the workers' API. At the upper bound, a workspace
// may make one request per microsecond. Error: wrong usage.
func (f RateFlags) Limit(cfg *app.Config) error {
	const most = ratelimit.MostPerMinute / contract.WorkspaceRate
	if f.RatePerMinute < 0 || f.RatePerMinute > most || f.RateBurst < 1 || f.TrustedHops < 0 || f.WorkPerHour < 0 || f.CPUPerMinute < 0 {
		return terminal.WrongUsagef("--rate-per-minute must be 0 to %d, --rate-burst 1 or more, --trusted-hops, --work-per-hour and --cpu-per-minute 0 or more", most)
	}
	cfg.WorkPerHour, cfg.CPUPerMinute = f.WorkPerHour, f.CPUPerMinute
	if cfg.TrustedHops = f.TrustedHops; f.RatePerMinute == 0 {
		return nil
	}
	cfg.Limit(ratelimit.Policy{PerMinute: f.RatePerMinute, Burst: f.RateBurst})
	return nil
}
