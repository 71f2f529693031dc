package operator

import (
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/app"
)

// openFlags limit what callers may hold open.
type openFlags struct {
	OpenRequests int `env:"SVC_OPEN_REQUESTS" default:"200" help:"Requests of one workspace that may be open at once, such as event streams and uploads."`
	Watchers     int `name:"job-watchers" env:"SVC_JOB_WATCHERS" default:"20" help:"Event streams of one job, or of one workspace, that may be open at once."`
	Connections  int `name:"max-connections" env:"SVC_MAX_CONNECTIONS" default:"10000" help:"Connections that may be open at once. Further callers wait."`
}

// apply sets the limits. Error: wrong usage.
func (f openFlags) apply(cfg *app.Config) error {
	if f.OpenRequests < 1 || f.Watchers < 1 || f.Connections < 1 {
		return terminal.WrongUsagef("--open-requests, --job-watchers and --max-connections must be 1 or more")
	}
	cfg.OpenRequests, cfg.Watchers, cfg.Connections = f.OpenRequests, f.Watchers, f.Connections
	return nil
}
