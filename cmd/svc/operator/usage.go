package operator

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/numbers"
	"svc.example/internal/ground/sheet"
	"svc.example/internal/work/operator"
)

// usage is svc admin usage.
type usage struct {
	viewFlags
	Workspace string `help:"Show only this workspace."`
	Months    int    `default:"12" help:"How many months, this one included: 1 to 36."`
	Tags      bool   `help:"Split it by the tags of the jobs. A job counts once, with all its tags."`
	CSV       bool   `name:"csv" xor:"form" help:"Print CSV."`
}

// Run prints what workspaces used, by month. Error: invalid_request.
func (c *usage) Run(k *kong.Context) error {
	if c.Months < 1 || c.Months > operator.MostMonths {
		return terminal.WrongUsagef("--months must be 1 to %d", operator.MostMonths)
	}
	answer := operator.UsageList{OK: true}
	err := c.view("/usage", url.Values{"workspace": {c.Workspace}, "months": {strconv.Itoa(c.Months)}, "tags": {strconv.FormatBool(c.Tags)}}, &answer, func(ctx context.Context, tx *db.Tx) (err error) {
		answer.Usage, err = operator.UsageOf(ctx, tx, operator.UsageScope{WorkspaceID: c.Workspace, Months: c.Months, ByTags: c.Tags})
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
	columns := []terminal.Column{
		{Title: "MONTH"}, {Title: "WORKSPACE"}, {Title: "JOBS", Spare: 2}, {Title: "FRAMES"}, {Title: "RENDER HOURS", Spare: 1}, {Title: "CHARGED"}, {Title: "REFUNDED", Spare: 3},
	}
	if c.Tags {
		columns = append(columns, terminal.Column{Title: "TAGS"})
	}
	list := terminal.NewList(columns...)
	for _, u := range answer.Usage {
		cells := []string{
			u.Month, u.WorkspaceID, strconv.FormatInt(u.Jobs, 10), strconv.FormatInt(u.Frames, 10), strconv.FormatFloat(u.RenderSeconds/3600, 'f', 2, 64),
			numbers.Dollars(u.ChargedCents), numbers.Dollars(u.RefundedCents),
		}
		if c.Tags {
			cells = append(cells, strings.Join(u.Tags, ", "))
		}
		list.Row(cells...)
	}
	list.Print(k.Stdout)
	return nil
}
