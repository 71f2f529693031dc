package operator

import (
	"context"
	"strings"

	"github.com/alecthomas/kong"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/identity"
)

// signInLink is svc admin sign-in-link.
type signInLink struct {
	adminFlags
	Email     string `required:"" help:"E-mail address of the person."`
	PublicURL string `env:"SVC_PUBLIC_URL" default:"http://127.0.0.1:8080" help:"URL under which people reach the service."`
}

// Run prints a sign-in link that works once, within contract.SignInLinkLife. The person
// need not exist yet. Until the link is used it is a secret: anyone with it can sign in as
// that person.
func (c *signInLink) Run(k *kong.Context) error {
	var token string
	err := c.write(func(ctx context.Context, tx *db.Tx) (err error) {
		token, err = identity.CreateSignInLink(ctx, tx, c.Email)
		return err
	})
	if err != nil {
		return err
	}
	return c.print(k, field{"link", links.Links{PublicURL: strings.TrimRight(c.PublicURL, "/")}.SignIn(token)}, field{"minutes", 15})
}
