package operator

import (
	"time"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/app"
	"svc.example/internal/ground/db"
)

// openFlags limit what callers may hold open, and what the process may.
type openFlags struct {
	OpenRequests int           `env:"SVC_OPEN_REQUESTS" default:"200" help:"Most open requests of one workspace, including event streams and uploads."`
	Watchers     int           `name:"job-watchers" env:"SVC_JOB_WATCHERS" default:"20" help:"Most open event streams of one job, or of one workspace."`
	Connections  int           `name:"max-connections" env:"SVC_MAX_CONNECTIONS" default:"10000" help:"Most open connections. Further callers wait."`
	KeepAlive    time.Duration `name:"keep-alive" env:"SVC_KEEP_ALIVE" default:"620s" help:"How long an idle connection stays open. Set it longer than the idle timeout of your load balancer, which can be up to 600s."`
	Database     int           `name:"database-connections" env:"SVC_DATABASE_CONNECTIONS" placeholder:"N" help:"Most connections of this process to PostgreSQL, at least 4. Statements wait for a free one. Default: 21, or pool_max_conns of the address if that is more."`
}

// apply sets the limits. Error: wrong usage.
func (f openFlags) apply(cfg *app.Config) error {
	if f.OpenRequests < 1 || f.Watchers < 1 || f.Connections < 1 {
		return terminal.WrongUsagef("--open-requests, --job-watchers and --max-connections must be 1 or more")
	}
	if f.KeepAlive < time.Second {
		return terminal.WrongUsagef("--keep-alive must be at least 1s")
	}
	if f.Database != 0 && f.Database < db.LeastConnections {
		return terminal.WrongUsagef("--database-connections must be %d or more", db.LeastConnections)
	}
	cfg.DatabaseConnections, cfg.KeepAlive = f.Database, f.KeepAlive
	cfg.OpenRequests, cfg.Watchers, cfg.Connections = f.OpenRequests, f.Watchers, f.Connections
	return nil
}
