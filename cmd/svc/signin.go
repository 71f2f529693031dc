package main

import (
	"errors"

	"svc.example/internal/app"
	"svc.example/internal/identity"
)

// signInFlags say how people prove who they are. Secrets belong into the
// environment or the configuration file: other users see a command line.
type signInFlags struct {
	SMTP     string `name:"smtp" env:"SVC_SMTP" placeholder:"URL" help:"Mail server for sign-in links, smtp://user:password@host:587 (STARTTLS) or smtps://… Without it, links stand in the log."`
	MailFrom string `env:"SVC_MAIL_FROM" placeholder:"ADDRESS" help:"Sender of the links, such as 'Renders <renders@example.com>'."`
}

// apply puts what the flags say into cfg.
func (f signInFlags) apply(cfg *app.Config) (err error) {
	if (f.SMTP == "") != (f.MailFrom == "") {
		return exitError{errors.New("--smtp and --mail-from go together"), exitUsage}
	}
	if f.SMTP != "" {
		if cfg.Mail, err = identity.NewMail(f.SMTP, f.MailFrom); err != nil {
			return exitError{err, exitUsage}
		}
	}
	return nil
}
