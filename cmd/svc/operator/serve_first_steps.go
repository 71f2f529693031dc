package operator

import (
	"context"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/links"
	"svc.example/internal/ground/numbers"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/operator"
	"svc.example/internal/work/wallet"
)

// The person of the first sign-in link operates the service, and has a credit to try it.
const (
	firstOperator = "operator@localhost"
	firstCents    = 500
)

// firstSteps prints what to do next with a service that nobody has used, and nothing with
// another one. On a terminal it also creates the first operator and prints a sign-in link, in the
// transaction that finds the service unused. It prints no link elsewhere: the output may end up
// in a log, and a reader of the log could become the operator. If it fails, the service starts
// anyway and prints the error.
func (c *Serve) firstSteps(ctx context.Context, service *app.App, address string, k *kong.Context) error {
	var unused bool
	var token string
	err := service.DB.Write(ctx, func(tx *db.Tx) (err error) {
		unused, token, err = unusedService(ctx, tx, terminal.IsTerminal(k.Stdout))
		return err
	})
	if err != nil || !unused {
		return err
	}
	if c.PublicURL != "" {
		address = c.PublicURL
	}
	say := func(format string, args ...any) { terminal.Printf(k.Stdout, format, args...) }
	say("")
	say("Nothing has been rendered yet. To create a workspace with $5.00 and its keys:")
	say("  svc admin workspace create --email you@example.com --credit-cents 500 %s", c.flags())
	say("Then render a scene with the agent key that it prints:")
	say("  svc render scene.blend --server %s --key svc_agent_…", address)
	if token == "" {
		say("To sign in, make a link that works once:")
		say("  svc admin sign-in-link --email you@example.com --public-url %s %s", address, c.flags())
	} else {
		say("To operate it in a browser, with %s to try it, open this link within 15 minutes. It works once:", numbers.Dollars(firstCents))
		say("  %s", links.Links{PublicURL: address}.SignIn(token))
	}
	say("")
	return nil
}

// unusedService reports whether a service has no workspace but the first operator's, and no job.
// Then it makes a sign-in link for that person, if it is asked to. The person may not exist yet.
func unusedService(ctx context.Context, tx *db.Tx, link bool) (unused bool, token string, err error) {
	all, err := identity.Workspaces(ctx, tx, "", "", 2)
	if err != nil || len(all) > 1 || (len(all) == 1 && (all[0].Name != firstOperator || all[0].Jobs > 0)) {
		return false, "", err
	}
	if !link {
		return true, "", nil
	}
	if len(all) == 0 {
		if err := makeFirstOperator(ctx, tx); err != nil {
			return true, "", err
		}
	}
	token, err = identity.CreateSignInLink(ctx, tx, firstOperator)
	return true, token, err
}

// makeFirstOperator makes the person, whose rights and credit are recorded like those of others.
func makeFirstOperator(ctx context.Context, tx *db.Tx) error {
	p, err := identity.CreateWorkspace(ctx, tx, firstOperator)
	if err != nil {
		return err
	}
	right, err := operator.SetOperator(ctx, tx, p.Email, true)
	if err != nil {
		return err
	}
	credit, err := operator.Credit(ctx, tx, p.WorkspaceID, wallet.NewReference(), firstCents)
	for _, act := range []operator.Act{right, credit} {
		if err == nil {
			err = act.Perform(ctx, tx, operator.Account(whoami()))
		}
	}
	return err
}
