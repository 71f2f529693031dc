package webhook

import (
	"context"
	"fmt"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
)

// pageOfEvents is how many events one transaction goes through.
const pageOfEvents = 500

// RedeliverSince sends an endpoint every event of a job since a time that it has
// not taken: those that failed or wait, and those it was never sent, because it
// was disabled or not there yet. Events that were forgotten are not among them.
// It returns how many there are.
//
// It goes page by page, each in a transaction of its own: however many there
// are, nobody else waits for long. What is done when it breaks off stays done,
// and who asks again is told the whole number less what was taken meanwhile.
// Errors: webhook_endpoint_not_found, webhook_endpoint_disabled.
func (h *Hooks) RedeliverSince(ctx context.Context, workspaceID, endpointID string, since time.Time) (n int64, err error) {
	page := query.WebhookEventsSinceParams{WorkspaceID: workspaceID, Since: db.Micros(since), Max: pageOfEvents}
	for more := true; more; {
		var sent int64
		next := page
		err := h.mine(ctx, workspaceID, endpointID, func(tx *db.Tx, row query.WebhookEndpoint) (err error) {
			next, sent = page, 0
			if row.DisabledAt != 0 {
				return isDisabled(endpointID)
			}
			if next.Until == 0 {
				next.Until = tx.Now // what comes later is sent by itself
			}
			sent, err = resend(ctx, tx, row, &next)
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

// resend sends what an endpoint has not taken of a page of events, and moves on
// behind it.
func resend(ctx context.Context, tx *db.Tx, to query.WebhookEndpoint, page *query.WebhookEventsSinceParams) (sent int64, err error) {
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
	return again + missed, hurry(ctx, tx, to.Lane)
}
