package operator

import (
	"errors"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/app"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/identity/openid"
)

// signInFlags configure how people prove who they are. Secrets belong in the
// environment or the configuration file: other users of the machine can read a command
// line.
type signInFlags struct {
	SMTP     string `name:"smtp" env:"SVC_SMTP" placeholder:"URL" help:"Mail server for sign-in links, smtp://user:password@host:587 (STARTTLS) or smtps://… Without it, the log shows who requests a link, and you create it with svc admin sign-in-link."`
	MailFrom string `env:"SVC_MAIL_FROM" placeholder:"ADDRESS" help:"Sender of these e-mails, such as 'Renders <renders@example.com>'."`

	OIDCIssuer       string   `name:"oidc-issuer" env:"SVC_OIDC_ISSUER" placeholder:"URL" help:"OpenID Connect issuer for signing in. The callback is the public URL followed by /v1/auth/oidc/callback."`
	OIDCClientID     string   `name:"oidc-client-id" env:"SVC_OIDC_CLIENT_ID" help:"Client id of this service at the issuer."`
	OIDCClientSecret string   `name:"oidc-client-secret" env:"SVC_OIDC_CLIENT_SECRET" help:"Client secret of this service at the issuer. Omit it for a public client."`
	NoDomains        []string `name:"no-domains" env:"SVC_NO_DOMAINS" placeholder:"DOMAIN" help:"Domains of addresses that no workspace may claim to have its people join when they sign in with OpenID Connect, besides those of public mail services. * switches such claims off, existing ones too."`

	Registration bool `name:"oauth-registration" env:"SVC_OAUTH_REGISTRATION" help:"Let OAuth clients register themselves (RFC 7591) if they have no client metadata document. What they say about themselves is not verified; the consent page says so."`
}

// apply sets the flags in cfg. Half of a pair is wrong usage and not a default: a
// service that falls back to links in its log would surprise its operator.
func (f signInFlags) apply(cfg *app.Config) (err error) {
	cfg.Registration, cfg.NoDomains = f.Registration, f.NoDomains
	if (f.SMTP == "") != (f.MailFrom == "") {
		return terminal.WrongUsage(errors.New("--smtp and --mail-from go together"))
	}
	if f.SMTP != "" {
		if cfg.Mail, err = identity.NewMail(f.SMTP, f.MailFrom); err != nil {
			return terminal.WrongUsage(err)
		}
	}
	if (f.OIDCIssuer == "") != (f.OIDCClientID == "") || (f.OIDCIssuer == "" && f.OIDCClientSecret != "") {
		return terminal.WrongUsage(errors.New("--oidc-issuer and --oidc-client-id go together"))
	}
	if f.OIDCIssuer != "" {
		cfg.OpenID = &openid.Config{Issuer: f.OIDCIssuer, ClientID: f.OIDCClientID, ClientSecret: f.OIDCClientSecret}
	}
	return nil
}
