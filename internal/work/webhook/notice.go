package webhook

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"strings"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/lease"
)

// NoticeQueue is the lease queue of disabled endpoints whose owners receive a mail.
// The subject is the endpoint.
const NoticeQueue = "webhook_notice"

// Notices mail the owners of disabled endpoints. They are work of their own queue, so
// that a slow mail server delays no delivery.
type Notices struct {
	DB *db.DB
	// Send sends a mail; nil when no mail server is configured.
	Send func(ctx context.Context, to, subject, text string) error
	Log  *slog.Logger
}

// MaxNotices bounds the tries of a mail: with the runner's pauses, about an hour. After
// that the mail is a dead letter, and the owner still finds the reason in the API.
const MaxNotices = 60

// Notify handles a lease of NoticeQueue. It sends nothing when the endpoint was enabled
// or deleted in the meantime. An error leaves the lease to the runner, which tries
// again later; people who got their mail then get it a second time.
func (n Notices) Notify(ctx context.Context, l lease.Lease) error {
	var endpoint query.WebhookEndpoint
	var people []string
	err := n.DB.Read(ctx, func(tx *db.Tx) (err error) {
		if endpoint, err = tx.WebhookEndpointGet(ctx, l.Subject); err != nil {
			return fmt.Errorf("read webhook endpoint: %w", err)
		}
		people, err = tx.WorkspaceOwners(ctx, endpoint.WorkspaceID)
		return err
	})
	if err != nil {
		return err
	}
	if endpoint.DisabledAt != 0 && endpoint.DeletedAt == 0 {
		if err := n.mailOwners(ctx, people, endpoint); err != nil {
			return err
		}
	}
	return n.DB.Write(ctx, func(tx *db.Tx) error { return lease.Finish(ctx, tx, l.Ref()) })
}

// mailOwners mails every person of the workspace. Without a mail server it logs a
// warning instead, which the operator can act on, and counts as done: a retry would
// change nothing.
func (n Notices) mailOwners(ctx context.Context, people []string, endpoint query.WebhookEndpoint) error {
	if n.Send == nil {
		n.Log.Warn("no mail server is configured: inform the owners of this disabled webhook endpoint yourself",
			"people", people, "endpoint_id", endpoint.EndpointID, "reason", endpoint.DisabledReason)
		return nil
	}
	for _, to := range people {
		if err := n.Send(ctx, to, "A webhook endpoint is disabled", mailText(endpoint)); err != nil {
			return err
		}
	}
	return nil
}

// mailText shows the address without its query, which may hold a secret. It names the
// start of the failing period as the time from which to redeliver.
func mailText(e query.WebhookEndpoint) string {
	address := e.Url
	if u, err := url.Parse(e.Url); err == nil {
		u.RawQuery, u.Fragment = "", ""
		address = u.String()
	}
	why := "It answered 410 Gone."
	if Reason(e.DisabledReason) == Failing {
		why = fmt.Sprintf("Every try since %s has failed.", db.Time(e.FailingSince).Format("2 January 2006 15:04 MST"))
	}
	return strings.Join([]string{
		"The webhook endpoint " + e.EndpointID + " of " + contract.Service + " is disabled:", "", address, "", why, "",
		"It receives no more events until you enable it again:", "",
		"  PATCH /v1/webhook-endpoints/" + e.EndpointID, `  {"enabled": true}`, "",
		"To receive the events that it missed, send:", "",
		"  POST /v1/webhook-endpoints/" + e.EndpointID + "/redeliver",
		fmt.Sprintf(`  {"since": %q}`, db.Time(e.FailingSince).Format("2006-01-02T15:04:05Z")), "",
	}, "\n")
}
