package operator

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/operator"
)

// deadLetterList is svc admin dead-letter list.
type deadLetterList struct {
	viewFlags
	Queue string `help:"List only this queue, such as expire or webhook_notice."`
	Limit int    `default:"100" help:"How many to list, newest first."`
}

// Run prints dead letters with the reason of their last failure. It changes nothing.
func (c *deadLetterList) Run(k *kong.Context) error {
	answer := operator.DeadLetterList{OK: true}
	err := c.view("/dead-letters", url.Values{"queue": {c.Queue}, "limit": {strconv.Itoa(c.Limit)}}, &answer, func(ctx context.Context, tx *db.Tx) (err error) {
		answer.DeadLetters, err = lease.DeadLetters(ctx, tx, c.Queue, c.Limit)
		return err
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return terminal.PrintJSON(k.Stdout, answer)
	}
	if len(answer.DeadLetters) == 0 {
		terminal.Printf(k.Stdout, "there are no dead letters")
		return nil
	}
	list := terminal.NewList(terminal.Column{Title: "ID"}, terminal.Column{Title: "DIED"}, terminal.Column{Title: "FAILURES"}, terminal.Column{Title: "REASON"})
	for _, d := range answer.DeadLetters {
		list.Row(d.ID, d.DiedAt.Format(time.DateTime), fmt.Sprint(d.Failures), d.Reason)
	}
	list.Print(k.Stdout)
	return nil
}

// deadLetterRequeue is svc admin dead-letter requeue.
type deadLetterRequeue struct {
	actFlags
	ID    []string `arg:"" optional:"" help:"Ids from svc admin dead-letter list."`
	Queue string   `help:"Requeue all dead letters of this queue instead."`
}

// Run puts dead letters back in one transaction: all of them or, when one id is
// unknown (dead_letter_not_found), none. A queue without dead letters is no error.
func (c *deadLetterRequeue) Run(k *kong.Context) error {
	if (len(c.ID) == 0) == (c.Queue == "") {
		return terminal.WrongUsage(errors.New("give either ids or --queue"))
	}
	answer := operator.Requeued{Requeued: append([]string{}, c.ID...)}
	body := map[string]any{"ids": c.ID}
	if c.Queue != "" {
		body = map[string]any{"queue": c.Queue}
	}
	err := c.act(call{method: http.MethodPost, path: "/dead-letters/requeue", body: body}, &answer, func(ctx context.Context, tx *db.Tx) (_ operator.Act, err error) {
		if c.Queue != "" {
			answer.Requeued, err = operator.DeadLettersOf(ctx, tx, c.Queue)
		}
		return operator.Requeue(answer.Requeued), err
	}, nil)
	if err != nil {
		return err
	}
	if c.JSON {
		return terminal.PrintJSON(k.Stdout, map[string]any{"ok": true, "requeued": answer.Requeued})
	}
	terminal.Printf(k.Stdout, "%d requeued", len(answer.Requeued))
	return nil
}
