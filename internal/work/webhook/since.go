package webhook

import (
	"context"
	"fmt"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
)

// pageOfEvents bounds the events that one transaction goes through.
const pageOfEvents = 500

// RedeliverSince sends an endpoint every job event since a time that it has not
// accepted: events that failed or wait, and events from before it existed or while it
// was disabled. Deleted events are not sent. It returns how many there are.
//
// It works page by page, each in its own transaction, so that nobody else waits for
// long. Completed pages stay done when a later one fails; a repeated call counts what
// is then still missing. Errors: webhook_endpoint_not_found,
// webhook_endpoint_disabled.
func (h *Hooks) RedeliverSince(ctx context.Context, workspaceID, endpointID string, since time.Time) (n int64, err error) {
	page := query.WebhookEventsSinceParams{WorkspaceID: workspaceID, Since: db.Micros(since), Max: pageOfEvents}
	for more := true; more; {
		var sent int64
		next := page
		err := h.withLocked(ctx, workspaceID, endpointID, func(tx *db.Tx, row query.WebhookEndpoint) (err error) {
			next, sent = page, 0
			if row.DisabledAt != 0 {
				return isDisabled(endpointID)
			}
			if next.Until == 0 {
				next.Until = tx.Now // later events are delivered anyway
			}
			sent, err = redeliverPage(ctx, tx, row, &next)
			more = next.Behind != page.Behind
			return err
		})
		if err != nil {
			return 0, err
		}
		page, n = next, n+sent
	}
	return n, nil
}

// redeliverPage sends what an endpoint has not accepted of one page of events, and
// advances the cursor.
func redeliverPage(ctx context.Context, tx *db.Tx, to query.WebhookEndpoint, page *query.WebhookEventsSinceParams) (sent int64, err error) {
	events, err := tx.WebhookEventsSince(ctx, *page)
	if err != nil {
		return 0, fmt.Errorf("list webhook events: %w", err)
	}
	if len(events) == 0 {
		return 0, nil
	}
	last := events[len(events)-1]
	again, err := tx.WebhookRedeliverFailed(ctx, query.WebhookRedeliverFailedParams{
		Now: tx.Now, EndpointID: to.EndpointID, WorkspaceID: to.WorkspaceID,
		Since: page.Since, Behind: page.Behind, Until: last.CreatedAt, Last: last.EventID,
	})
	if err != nil {
		return 0, fmt.Errorf("redeliver webhooks: %w", err)
	}
	missed, err := tx.WebhookDeliverMissed(ctx, query.WebhookDeliverMissedParams{
		Now: tx.Now, EndpointID: to.EndpointID, WorkspaceID: to.WorkspaceID,
		Since: page.Since, Behind: page.Behind, Until: last.CreatedAt, Last: last.EventID,
	})
	if err != nil {
		return 0, fmt.Errorf("deliver missed webhooks: %w", err)
	}
	page.Since, page.Behind = last.CreatedAt, last.EventID
	if again+missed == 0 {
		return 0, nil
	}
	return again + missed, wakeLane(ctx, tx, to.Lane)
}
