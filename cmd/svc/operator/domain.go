package operator

import (
	"context"
	"net/http"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/db"
	"svc.example/internal/work/operator"
)

// domainList is svc admin domain list.
type domainList struct {
	viewFlags
	pageFlags
	Workspace string `help:"List only the domains of this workspace."`
}

// Run lists claimed domains.
func (c *domainList) Run(k *kong.Context) error {
	var answer operator.DomainList
	query := c.query()
	query.Set("workspace", c.Workspace)
	err := c.view("/domains", query, &answer, func(ctx context.Context, tx *db.Tx) (err error) {
		answer, err = operator.Domains(ctx, tx, c.Workspace, c.Before, c.Limit)
		return err
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return terminal.PrintJSON(k.Stdout, answer)
	}
	if len(answer.Domains) == 0 {
		terminal.Printf(k.Stdout, "no workspace has claimed a domain")
		return nil
	}
	list := terminal.NewList(terminal.Column{Title: "DOMAIN", Cut: true}, terminal.Column{Title: "WORKSPACE"}, terminal.Column{Title: "ROLE"},
		terminal.Column{Title: "CLAIMED BY", Spare: 1}, terminal.Column{Title: "SINCE", Spare: 2})
	for _, d := range answer.Domains {
		list.Row(d.Domain, d.WorkspaceID, string(d.Role), d.ClaimedBy, d.ClaimedAt.Format(time.DateTime))
	}
	list.Print(k.Stdout)
	return nil
}

// domainRelease is svc admin domain release.
type domainRelease struct {
	actFlags
	Domain string `arg:"" help:"Domain, such as example.com."`
}

// Run releases a domain. Error: domain_not_found.
func (c *domainRelease) Run(k *kong.Context) error {
	route := call{method: http.MethodDelete, path: "/domains" + part(c.Domain)}
	err := c.act(route, nil, func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
		return operator.ReleaseDomain(ctx, tx, c.Domain)
	}, nil)
	if err != nil {
		return err
	}
	return c.print(k, field{"domain", c.Domain}, field{"released", true})
}
