package operator

import (
	"context"
	"errors"
	"fmt"
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
	changeFlags
	ID    []string `arg:"" optional:"" help:"Ids from svc admin dead-letter list."`
	Queue string   `help:"Requeue all dead letters of this queue instead."`
}

// Run puts dead letters back in one transaction: all of them or, when one id is
// unknown (dead_letter_not_found), none. A queue without dead letters is no error.
func (c *deadLetterRequeue) Run(k *kong.Context) error {
	if (len(c.ID) == 0) == (c.Queue == "") {
		return terminal.WrongUsage(errors.New("give either ids or --queue"))
	}
	requeued := append([]string{}, c.ID...)
	err := c.change(func(ctx context.Context, tx *db.Tx) (_ operator.Act, err error) {
		if c.Queue != "" {
			requeued, err = deadLetterIDs(ctx, tx, c.Queue)
		}
		return operator.Requeue(requeued), err
	}, nil)
	if err != nil {
		return err
	}
	if c.JSON {
		return terminal.PrintJSON(k.Stdout, map[string]any{"ok": true, "requeued": requeued})
	}
	terminal.Printf(k.Stdout, "%d requeued", len(requeued))
	return nil
}

// maxRequeue bounds how many dead letters of a queue are put back by one command,
// because one transaction holds them all. Where there are more, run it again.
const maxRequeue = 10_000

// deadLetterIDs returns the ids of a queue's dead letters, maxRequeue at most.
func deadLetterIDs(ctx context.Context, tx *db.Tx, queue string) ([]string, error) {
	dead, err := lease.DeadLetters(ctx, tx, queue, maxRequeue)
	ids := make([]string, 0, len(dead))
	for _, d := range dead {
		ids = append(ids, d.ID)
	}
	return ids, err
}
