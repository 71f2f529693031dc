package webhook

import (
	"context"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
)

// forgetAtOnce bounds the events that one transaction deletes, so that no lock is held
// for long. It is lower than pageOfEvents because each event takes up to five
// statements here.
const forgetAtOnce = 100

// Forget deletes what is older than Life and has been quiet for that long: bodies of
// events, deliveries with their tries, and a job's own target with its secret. It
// also deletes expired secrets and deleted endpoints. A job's event keeps its bare
// row, so that the audit can tell a deleted event from one that was never written. It
// returns the number of events.
func (h *Hooks) Forget(ctx context.Context) (n int64, err error) {
	var page query.WebhookEventsOverParams
	for more := true; more; {
		var done int64
		next := page
		// A transaction may run twice after a conflict, so each run starts from the
		// same cursor.
		err := h.DB.Write(ctx, func(tx *db.Tx) (err error) {
			next = page
			next.Before, next.Max = tx.Now-h.Life.Microseconds(), forgetAtOnce
			done, err = h.forget(ctx, tx, &next)
			return err
		})
		if err != nil {
			return n, err
		}
		page, n, more = next, n+done, done == forgetAtOnce
	}
	err = h.DB.Write(ctx, func(tx *db.Tx) error {
		if _, err := tx.WebhookSecretsOver(ctx, tx.Now); err != nil {
			return fmt.Errorf("forget webhook secrets: %w", err)
		}
		if _, err := tx.WebhookEndpointsForget(ctx, tx.Now-h.Life.Microseconds()); err != nil {
			return fmt.Errorf("forget webhook endpoints: %w", err)
		}
		return nil
	})
	return n, err
}

// forget deletes one page of events and advances the cursor. The query locks the events
// and skips those that another transaction holds, such as a redelivery; the next run
// finds them.
func (h *Hooks) forget(ctx context.Context, tx *db.Tx, page *query.WebhookEventsOverParams) (n int64, err error) {
	events, err := tx.WebhookEventsOver(ctx, *page)
	if err != nil {
		return 0, fmt.Errorf("list webhook events: %w", err)
	}
	for _, e := range events {
		if err := forgetEvent(ctx, tx, e); err != nil {
			return 0, fmt.Errorf("forget webhook event %s: %w", e.EventID, err)
		}
		page.Since, page.Behind = e.CreatedAt, e.EventID
	}
	return int64(len(events)), nil
}

// forgetEvent deletes children before parents, as the foreign keys require.
func forgetEvent(ctx context.Context, tx *db.Tx, e query.WebhookEventsOverRow) error {
	if err := tx.WebhookAttemptsForget(ctx, e.EventID); err != nil {
		return err
	}
	if err := tx.WebhookDeliveriesForget(ctx, e.EventID); err != nil {
		return err
	}
	if e.JobID == "" {
		return tx.WebhookEventDelete(ctx, e.EventID) // a test event belongs to no job, so the audit does not look for it
	}
	target, err := tx.WebhookTargetForget(ctx, query.WebhookTargetForgetParams{Now: tx.Now, JobID: e.JobID})
	n, err := endpointRows.Changed(ctx, tx, target, err)
	if err == nil && n == 1 {
		err = tx.WebhookSecretsDelete(ctx, target.EndpointID)
	}
	if err != nil {
		return err
	}
	row, err := tx.WebhookEventForget(ctx, query.WebhookEventForgetParams{Now: tx.Now, EventID: e.EventID})
	_, err = eventRows.Changed(ctx, tx, row, err)
	return err
}
