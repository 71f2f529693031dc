package operator

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/db"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/operator"
)

// personOperator is svc admin person operator.
type personOperator struct {
	actFlags
	Email string `help:"E-mail address of an existing account. Without it, the command lists the operators."`
	Off   bool   `help:"Remove the access. It also ends on pages that are open."`
}

// Run makes a person an operator, or lists the operators. Repeating it changes nothing.
// Error: person_not_found.
func (c *personOperator) Run(k *kong.Context) error {
	if c.Email == "" {
		if c.Off {
			return terminal.WrongUsage(errors.New("--off needs --email"))
		}
		return c.list(k)
	}
	if c.remote() && !c.Off {
		return terminal.WrongUsagef("only svc admin next to the store gives access: it would outlive the operator key")
	}
	route := call{method: http.MethodPost, path: "/operators/remove", body: map[string]any{"email": c.Email}}
	err := c.act(route, nil, func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
		return operator.SetOperator(ctx, tx, c.Email, !c.Off)
	}, nil)
	if err != nil {
		return err
	}
	return c.print(k, field{"email", c.Email}, field{"operator", !c.Off})
}

// list prints the operators.
func (c *personOperator) list(k *kong.Context) error {
	answer := operator.PersonList{OK: true}
	view := viewFlags{c.adminFlags, c.served}
	err := view.view("/operators", nil, &answer, func(ctx context.Context, tx *db.Tx) (err error) {
		answer.Operators, err = identity.Operators(ctx, tx)
		return err
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return terminal.PrintJSON(k.Stdout, answer)
	}
	if len(answer.Operators) == 0 {
		terminal.Printf(k.Stdout, "nobody is an operator in the browser; make one with --email")
		return nil
	}
	list := terminal.NewList(terminal.Column{Title: "OPERATOR"}, terminal.Column{Title: "WORKSPACE", Spare: 1}, terminal.Column{Title: "SINCE"})
	for _, o := range answer.Operators {
		list.Row(o.Email, o.WorkspaceID, o.Since.Format(time.DateTime))
	}
	list.Print(k.Stdout)
	return nil
}
