package webhook

import (
	"context"
	"fmt"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
)

// Redeliver sends a delivery of a job again, in any status. It starts at once with
// the whole schedule ahead, and keeps the webhook-id, so that the receiver can
// recognise a repetition. The log keeps the earlier attempts; their numbers
// continue. A delivery that waits is due at once. Errors:
// webhook_delivery_not_found, webhook_endpoint_disabled.
func (h *Hooks) Redeliver(ctx context.Context, workspaceID, jobID, deliveryID string) (d Delivery, err error) {
	err = h.DB.Write(ctx, func(tx *db.Tx) error {
		row, err := tx.WebhookDeliveryGet(ctx, deliveryID)
		if db.IsNotFound(err) || (err == nil && (row.WebhookDelivery.WorkspaceID != workspaceID || row.WebhookDelivery.JobID != jobID)) {
			return noDelivery(deliveryID)
		}
		if err != nil {
			return fmt.Errorf("read webhook delivery: %w", err)
		}
		// Locks are taken in the order delivery queue, event, endpoint. Every writer
		// keeps this order, so that two of them never deadlock.
		if err := wakeQueue(ctx, tx, row.WebhookDelivery.Lane); err != nil {
			return err
		}
		// The event's lock keeps Forget from deleting the event between this statement
		// and the commit: the delivery would then have no body to send.
		if _, err := tx.WebhookEventLock(ctx, row.WebhookDelivery.EventID); err != nil {
			return fmt.Errorf("lock webhook event: %w", err)
		}
		endpoint, err := tx.WebhookEndpointLock(ctx, row.WebhookDelivery.EndpointID)
		if err != nil {
			return fmt.Errorf("read webhook endpoint: %w", err)
		}
		if endpoint.DisabledAt != 0 || endpoint.DeletedAt != 0 {
			return isDisabled(endpoint.EndpointID)
		}
		n, err := tx.WebhookRedeliver(ctx, query.WebhookRedeliverParams{Now: tx.Now, DeliveryID: deliveryID})
		if err != nil {
			return fmt.Errorf("redeliver webhook: %w", err)
		}
		if n == 0 { // deleted by Forget since it was read
			return noDelivery(deliveryID)
		}
		d, err = readDelivery(ctx, tx, deliveryID)
		return err
	})
	return d, err
}

// pageOfEvents bounds the events that one transaction of RedeliverSince goes through. The
// transaction locks each of these events and the endpoint's delivery queue, so it must
// stay short.
const pageOfEvents = 500

// RedeliverSince sends an endpoint every job event since a time that it has not
// accepted: events that failed or wait, and events from before it existed or while it
// was disabled. Deleted events are not sent. It returns how many there are.
//
// It works page by page, each in its own transaction, so that other transactions do
// not wait for long. Completed pages stay done when a later one fails; a repeated
// call counts what is then still missing. Errors: webhook_endpoint_not_found,
// webhook_endpoint_disabled.
func (h *Hooks) RedeliverSince(ctx context.Context, workspaceID, endpointID string, since time.Time) (n int64, err error) {
	page := query.WebhookEventsSinceParams{WorkspaceID: workspaceID, Since: db.Micros(since), Max: pageOfEvents}
	for more := true; more; {
		var sent int64
		next := page
		err := h.withLocked(ctx, workspaceID, endpointID, func(tx *db.Tx, row query.WebhookEndpoint) (err error) {
			next, sent = page, 0
			// Checked on every page: the owner may disable the endpoint between two of
			// them.
			if row.DisabledAt != 0 {
				return isDisabled(endpointID)
			}
			// The first page fixes the end. Without it a busy workspace, whose jobs end
			// as fast as this loop reads, would keep it going for ever.
			if next.Until == 0 {
				next.Until = tx.Now
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
// advances the cursor. Two statements cover the two cases: a delivery that exists and
// was not accepted restarts its schedule, and an event without a delivery to this
// endpoint gets one. It wakes the delivery queue only when there is something to send.
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
	return again + missed, wakeQueue(ctx, tx, to.Lane)
}
