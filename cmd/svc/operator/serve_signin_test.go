package operator

import (
	"errors"
	"testing"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/app"
)

func TestSignInFlagsAreCompleteOrWrongUsage(t *testing.T) {
	t.Parallel()
	const issuer, server, from = "https://accounts.example.com", "smtp://mail.example.com", "renders@svc.example"
	for _, c := range []struct {
		flags        signInFlags
		good         bool
		mail, openID bool
	}{
		{flags: signInFlags{}, good: true},
		{flags: signInFlags{SMTP: server, MailFrom: from}, good: true, mail: true},
		{flags: signInFlags{SMTP: server}},
		{flags: signInFlags{MailFrom: from}},
		{flags: signInFlags{SMTP: "mail.example.com", MailFrom: from}},
		{flags: signInFlags{OIDCIssuer: issuer, OIDCClientID: "a", OIDCClientSecret: "b"}, good: true, openID: true},
		{flags: signInFlags{OIDCIssuer: issuer, OIDCClientID: "a"}, good: true, openID: true}, // a public client
		{flags: signInFlags{OIDCIssuer: issuer}},
		{flags: signInFlags{OIDCClientID: "a"}},
		{flags: signInFlags{OIDCClientSecret: "b"}},
	} {
		var cfg app.Config
		err := c.flags.apply(&cfg)
		if c.good != (err == nil) || c.mail != (cfg.Mail != nil) || c.openID != (cfg.OpenID != nil) {
			t.Errorf("%+v: %v, %+v", c.flags, err, cfg)
		}
		if e, ok := errors.AsType[*terminal.ExitError](err); err != nil && (!ok || e.ExitCode() != terminal.ExitUsage) {
			t.Errorf("%+v: not a usage error: %v", c.flags, err)
		}
	}
}

func TestServeChecksTheSignInFlags(t *testing.T) {
	t.Parallel()
	err := (&Serve{signInFlags: signInFlags{SMTP: "smtp://mail.example.com"}}).Run(nil)
	if e, ok := errors.AsType[*terminal.ExitError](err); !ok || e.ExitCode() != terminal.ExitUsage {
		t.Errorf("half the flags: %v", err)
	}
}
