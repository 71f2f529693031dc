package operator

import (
	"time"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/app"
)

// keepFlags set how long rows are kept that nothing needs any more.
type keepFlags struct {
	WorkerKeep time.Duration `env:"SVC_WORKER_KEEP" default:"720h" help:"How long to keep workers that no longer report, and rejected benchmark receipts. At least 24h."`
	LogKeep    time.Duration `env:"SVC_LOG_KEEP" default:"720h" help:"How long to keep Blender's output and the failed attempts of an ended job. At least 24h."`
}

// apply sets the times. Less than a day is wrong usage: an operator could not see what
// happened overnight.
func (f keepFlags) apply(cfg *app.Config) error {
	if min(f.WorkerKeep, f.LogKeep) < minKeep {
		return terminal.WrongUsagef("--worker-keep and --log-keep must be %s or more", minKeep)
	}
	cfg.WorkerLife, cfg.LogLife = f.WorkerKeep, f.LogKeep
	return nil
}
