package operator

import (
	"context"
	"net/url"
	"strconv"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/sheet"
	"svc.example/internal/work/operator"
	"svc.example/internal/work/wallet"
)

// usage is svc admin usage.
type usage struct {
	viewFlags
	Workspace string `help:"Show only this workspace."`
	Months    int    `default:"12" help:"How many months, this one included: 1 to 36."`
	CSV       bool   `name:"csv" xor:"form" help:"Print CSV."`
}

// Run prints what workspaces used, by month. Error: invalid_request.
func (c *usage) Run(k *kong.Context) error {
	if c.Months < 1 || c.Months > operator.MostMonths {
		return terminal.WrongUsagef("--months must be 1 to %d", operator.MostMonths)
	}
	answer := operator.UsageList{OK: true}
	err := c.view("/usage", url.Values{"workspace": {c.Workspace}, "months": {strconv.Itoa(c.Months)}}, &answer, func(ctx context.Context, tx *db.Tx) (err error) {
		answer.Usage, err = operator.UsageOf(ctx, tx, c.Workspace, c.Months)
		return err
	})
	if err != nil {
		return err
	}
	switch {
	case c.CSV:
		return operator.WriteUsage(sheet.New(k.Stdout, sheet.Form{}), answer.Usage)
	case c.JSON:
		return terminal.PrintJSON(k.Stdout, answer)
	case len(answer.Usage) == 0:
		terminal.Printf(k.Stdout, "no job completed in these months")
		return nil
	}
	list := terminal.NewList(terminal.Column{Title: "MONTH"}, terminal.Column{Title: "WORKSPACE"}, terminal.Column{Title: "JOBS", Spare: 2}, terminal.Column{Title: "FRAMES"},
		terminal.Column{Title: "RENDER HOURS", Spare: 1}, terminal.Column{Title: "CHARGED"}, terminal.Column{Title: "REFUNDED", Spare: 3})
	for _, u := range answer.Usage {
		list.Row(u.Month, u.WorkspaceID, strconv.FormatInt(u.Jobs, 10), strconv.FormatInt(u.Frames, 10), strconv.FormatFloat(u.RenderSeconds/3600, 'f', 2, 64),
			wallet.Money(u.ChargedCents), wallet.Money(u.RefundedCents))
	}
	list.Print(k.Stdout)
	return nil
}
