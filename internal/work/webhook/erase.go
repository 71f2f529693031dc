package webhook

import (
	"context"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/lease"
)

// Erase removes a workspace's endpoints with their addresses and secrets, all deliveries
// with their attempts, and the bodies of events. What waits is not delivered. The event of
// a job keeps its bare row, as after Forget. Repeating it is safe.
func Erase(ctx context.Context, tx *db.Tx, workspaceID string) error {
	endpoints, err := tx.WebhookEndpointsErased(ctx, workspaceID)
	if err != nil {
		return fmt.Errorf("list webhook endpoints: %w", err)
	}
	for _, e := range endpoints {
		if err := lease.Erase(ctx, tx, Queue, e.Lane); err != nil {
			return err
		}
		if err := lease.Erase(ctx, tx, NoticeQueue, e.EndpointID); err != nil {
			return err
		}
	}
	// Children before parents, as the foreign keys require.
	for _, erase := range []func(context.Context, string) error{
		tx.WebhookAttemptsErase, tx.WebhookDeliveriesErase, tx.WebhookSecretsErase, tx.WebhookEndpointsErase, tx.WebhookTestsErase,
	} {
		if err := erase(ctx, workspaceID); err != nil {
			return fmt.Errorf("erase webhooks: %w", err)
		}
	}
	events, err := tx.WebhookEventsErase(ctx, query.WebhookEventsEraseParams{Now: tx.Now, WorkspaceID: workspaceID})
	if err != nil {
		return fmt.Errorf("erase webhook events: %w", err)
	}
	for _, row := range events {
		if err := eventRows.Renew(ctx, tx, row); err != nil {
			return err
		}
	}
	return nil
}
