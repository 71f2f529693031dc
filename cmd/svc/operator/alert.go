package operator

import (
	"context"
	"net/http"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/db"
	"svc.example/internal/work/notice/operators"
	"svc.example/internal/work/operator"
)

// alertList is svc admin alert list.
type alertList struct{ viewFlags }

// Help is printed below the flags.
func (alertList) Help() string {
	return "The service looks once a minute, if it has receivers (svc serve --alert-mail, --alert-url)."
}

// Run lists the trouble that the service has seen and that is not over.
func (c *alertList) Run(k *kong.Context) error {
	answer := operator.AlertList{OK: true}
	err := c.view("/alerts", nil, &answer, func(ctx context.Context, tx *db.Tx) (err error) {
		answer.Alerts, err = operators.Standings(ctx, tx)
		return err
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return terminal.PrintJSON(k.Stdout, answer)
	}
	if len(answer.Alerts) == 0 {
		terminal.Printf(k.Stdout, "nothing is known to be wrong")
		return nil
	}
	list := terminal.NewList(terminal.Column{Title: "ALERT"}, terminal.Column{Title: "SINCE"}, terminal.Column{Title: "TOLD", Spare: 1}, terminal.Column{Title: "WHAT", Cut: true})
	for _, s := range answer.Alerts {
		told := "not yet"
		if s.ToldAt != nil {
			told = s.ToldAt.Format(time.DateTime)
		}
		list.Row(s.Name, s.Since.Format(time.DateTime), told, s.Title)
	}
	list.Print(k.Stdout)
	return nil
}

// alertTest is svc admin alert test.
type alertTest struct{ actFlags }

// Help is printed below the flags.
func (alertTest) Help() string {
	return "The running service sends the message within seconds. If a receiver fails, its log says why, and the message is tried again for an hour."
}

// Run has the running service send a test message.
func (c *alertTest) Run(k *kong.Context) error {
	err := c.act(call{method: http.MethodPost, path: "/alerts/test"}, nil, to(operator.TestAlerts()), nil)
	if err != nil {
		return err
	}
	return c.print(k, field{"alert", "test"}, field{"state", "queued"})
}
