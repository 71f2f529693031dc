package webhook

import (
	"context"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
)

// forgetAtOnce is how many events one transaction forgets.
const forgetAtOnce = 100

// Forget removes what is over: of events that are older than Life, and of which
// nothing waits or ended within it, the body, the deliveries with their tries,
// and the job's own target with its secret; secrets that sign nothing any more;
// endpoints that were deleted. Of a job's event a row stays, so that the audit
// tells one that is forgotten from one that is lost. It returns how many events
// were forgotten.
func (h *Hooks) Forget(ctx context.Context) (n int64, err error) {
	var page query.WebhookEventsOverParams
	for more := true; more; {
		var done int64
		next := page
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

// forget forgets a page of events and moves on behind it.
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

func forgetEvent(ctx context.Context, tx *db.Tx, e query.WebhookEventsOverRow) error {
	if err := tx.WebhookAttemptsForget(ctx, e.EventID); err != nil {
		return err
	}
	if err := tx.WebhookDeliveriesForget(ctx, e.EventID); err != nil {
		return err
	}
	if e.JobID == "" {
		return tx.WebhookEventDelete(ctx, e.EventID) // a test: nobody asks for it any more
	}
	target, err := tx.WebhookTargetForget(ctx, query.WebhookTargetForgetParams{Now: tx.Now, JobID: e.JobID})
	if err == nil {
		err = tx.WebhookSecretsDelete(ctx, target)
	}
	if err != nil && !db.IsNotFound(err) {
		return err
	}
	return tx.WebhookEventForget(ctx, query.WebhookEventForgetParams{Now: tx.Now, EventID: e.EventID})
}
