package operator

import (
	"time"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/app"
	"svc.example/internal/work/notice/operators"
	"svc.example/internal/work/share"
)

// peopleFlags are about what reaches people: mails, messages and links to shared jobs.
type peopleFlags struct {
	JobMail   time.Duration `env:"SVC_JOB_MAIL" default:"10m" help:"Shortest time between two mails to a person about jobs that ended; jobs that end in between share the next mail. 0 sends none. Needs --mail."`
	AlertMail []string      `env:"SVC_ALERT_MAIL" placeholder:"ADDRESS" help:"Addresses of operators who are told what is wrong with the service, and when it is over. Needs --smtp."`
	AlertURL  string        `env:"SVC_ALERT_URL" placeholder:"URL" help:"Address that is told too: an incoming webhook of Slack or Discord, or any other that takes JSON by POST. Usually a secret."`
	Alerts    []string      `env:"SVC_ALERTS" placeholder:"NAME" help:"What operators are told of, such as no_worker or disk_low; the guide's page on observing a service lists them. Default: all."`
	Shares    int           `env:"SVC_SHARES" default:"200" help:"Most share links of one workspace that work at once. 0 switches sharing off, for links made before too."`
	Comments  int           `env:"SVC_SHARE_COMMENTS" name:"share-comments" default:"500" help:"Most comments that visitors may leave on a shared job, up to 1000. 0 switches comments off, also for existing links."`
}

// apply sets the limits. Error: wrong usage.
func (f peopleFlags) apply(cfg *app.Config) error {
	if f.Shares < 0 {
		return terminal.WrongUsagef("--shares must be 0 or more")
	}
	if f.Comments < 0 || f.Comments > share.MostComments {
		return terminal.WrongUsagef("--share-comments must be 0 to %d", share.MostComments)
	}
	if f.JobMail < 0 {
		return terminal.WrongUsagef("--job-mail must be 0 or more")
	}
	if err := operators.Check(f.AlertMail, f.AlertURL, f.Alerts); err != nil {
		return terminal.WrongUsage(err)
	}
	if len(f.AlertMail) > 0 && cfg.Mail == nil {
		return terminal.WrongUsagef("--alert-mail needs --smtp")
	}
	cfg.Alerts = operators.Config{Mail: f.AlertMail, URL: f.AlertURL, Names: f.Alerts}
	cfg.Shares, cfg.Comments, cfg.JobMail = &f.Shares, &f.Comments, &f.JobMail
	return nil
}
