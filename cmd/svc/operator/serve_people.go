package operator

import (
	"time"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/app"
)

// peopleFlags are about what reaches people: mails and links to shared jobs.
type peopleFlags struct {
	JobMail time.Duration `env:"SVC_JOB_MAIL" default:"10m" help:"Shortest time between two mails to a person about jobs that ended; jobs that end in between share the next mail. 0 sends none. Needs --mail."`
	Shares  int           `env:"SVC_SHARES" default:"200" help:"Most share links of one workspace that work at once. 0 switches sharing off, for links made before too."`
}

// apply sets the limits. Error: wrong usage.
func (f peopleFlags) apply(cfg *app.Config) error {
	if f.Shares < 0 {
		return terminal.WrongUsagef("--shares must be 0 or more")
	}
	if f.JobMail < 0 {
		return terminal.WrongUsagef("--job-mail must be 0 or more")
	}
	cfg.Shares, cfg.JobMail = &f.Shares, &f.JobMail
	return nil
}
