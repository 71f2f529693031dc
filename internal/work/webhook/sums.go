package webhook

import (
	"context"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/rowsum"
)

// The rows of this package that follow from nothing else carry checksums, over the whole
// row. A delivery has none: it follows from its event, its endpoint and its attempts.
var (
	endpointRows = rowsum.Table[query.WebhookEndpoint]{
		Name: "webhook_endpoint", Key: 1,
		After: func(ctx context.Context, tx *db.Tx, last query.WebhookEndpoint) ([]query.WebhookEndpoint, error) {
			return tx.WebhookEndpointAfter(ctx, last.EndpointID)
		},
		Store: func(ctx context.Context, tx *db.Tx, r query.WebhookEndpoint, sum string) error {
			return tx.WebhookEndpointSum(ctx, query.WebhookEndpointSumParams{RowSum: sum, EndpointID: r.EndpointID})
		},
	}
	secretRows = rowsum.Table[query.WebhookSecret]{
		Name: "webhook_secret", Key: 1,
		After: func(ctx context.Context, tx *db.Tx, last query.WebhookSecret) ([]query.WebhookSecret, error) {
			return tx.WebhookSecretAfter(ctx, last.SecretID)
		},
		Store: func(ctx context.Context, tx *db.Tx, r query.WebhookSecret, sum string) error {
			return tx.WebhookSecretSum(ctx, query.WebhookSecretSumParams{RowSum: sum, SecretID: r.SecretID})
		},
	}
	attemptRows = rowsum.Table[query.WebhookAttempt]{
		Name: "webhook_attempt", Key: 2,
		After: func(ctx context.Context, tx *db.Tx, last query.WebhookAttempt) ([]query.WebhookAttempt, error) {
			return tx.WebhookAttemptAfter(ctx, query.WebhookAttemptAfterParams{DeliveryID: last.DeliveryID, Number: last.Number})
		},
		Store: func(ctx context.Context, tx *db.Tx, r query.WebhookAttempt, sum string) error {
			return tx.WebhookAttemptSum(ctx, query.WebhookAttemptSumParams{RowSum: sum, DeliveryID: r.DeliveryID, Number: r.Number})
		},
	}
	eventRows = rowsum.Table[query.WebhookEvent]{
		Name: "webhook_event", Key: 1,
		Except: []string{"Seq"}, // auditEvents counts them
		After: func(ctx context.Context, tx *db.Tx, last query.WebhookEvent) ([]query.WebhookEvent, error) {
			return tx.WebhookEventAfter(ctx, last.EventID)
		},
		Store: func(ctx context.Context, tx *db.Tx, r query.WebhookEvent, sum string) error {
			return tx.WebhookEventSum(ctx, query.WebhookEventSumParams{RowSum: sum, EventID: r.EventID})
		},
	}
)

// Sums lists the tables of this package whose rows carry checksums.
var Sums = rowsum.Tables{endpointRows, secretRows, attemptRows, eventRows}
