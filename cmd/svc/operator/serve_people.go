package operator

import (
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/app"
)

// peopleFlags are about what reaches people: links to shared jobs.
type peopleFlags struct {
	Shares int `env:"SVC_SHARES" default:"200" help:"Most share links of one workspace that work at once. 0 switches sharing off, for links made before too."`
}

// apply sets the limits. Error: wrong usage.
func (f peopleFlags) apply(cfg *app.Config) error {
	if f.Shares < 0 {
		return terminal.WrongUsagef("--shares must be 0 or more")
	}
	cfg.Shares = &f.Shares
	return nil
}
