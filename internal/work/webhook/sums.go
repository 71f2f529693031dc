package webhook

import (
	"context"
	"strconv"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/rowsum"
)

// The rows of this package that follow from nothing else carry checksums, over the whole
// row. A delivery has none: it follows from its event, its endpoint and its attempts.
var (
	endpointRows = rowsum.Table[query.WebhookEndpoint]{
		Name: "webhook_endpoint",
		After: func(ctx context.Context, tx *db.Tx, last query.WebhookEndpoint) ([]query.WebhookEndpoint, error) {
			return tx.WebhookEndpointAfter(ctx, last.EndpointID)
		},
		Fields: func(r query.WebhookEndpoint) []any {
			return []any{
				r.EndpointID, r.WorkspaceID, r.JobID, r.Url, r.Description, r.Lane,
				r.FailingSince, r.LastFailedAt, r.DisabledAt, r.DisabledReason, r.CreatedAt, r.DeletedAt,
			}
		},
		Kept: func(r query.WebhookEndpoint) string { return r.RowSum },
		ID:   func(r query.WebhookEndpoint) string { return r.EndpointID },
		Store: func(ctx context.Context, tx *db.Tx, r query.WebhookEndpoint, sum string) error {
			return tx.WebhookEndpointSum(ctx, query.WebhookEndpointSumParams{RowSum: sum, EndpointID: r.EndpointID})
		},
	}
	secretRows = rowsum.Table[query.WebhookSecret]{
		Name: "webhook_secret",
		After: func(ctx context.Context, tx *db.Tx, last query.WebhookSecret) ([]query.WebhookSecret, error) {
			return tx.WebhookSecretAfter(ctx, last.SecretID)
		},
		Fields: func(r query.WebhookSecret) []any {
			return []any{r.SecretID, r.EndpointID, r.Sealed, r.CreatedAt, r.ExpiresAt}
		},
		Kept: func(r query.WebhookSecret) string { return r.RowSum },
		ID:   func(r query.WebhookSecret) string { return r.SecretID },
		Store: func(ctx context.Context, tx *db.Tx, r query.WebhookSecret, sum string) error {
			return tx.WebhookSecretSum(ctx, query.WebhookSecretSumParams{RowSum: sum, SecretID: r.SecretID})
		},
	}
	attemptRows = rowsum.Table[query.WebhookAttempt]{
		Name: "webhook_attempt",
		After: func(ctx context.Context, tx *db.Tx, last query.WebhookAttempt) ([]query.WebhookAttempt, error) {
			return tx.WebhookAttemptAfter(ctx, query.WebhookAttemptAfterParams{DeliveryID: last.DeliveryID, Number: last.Number})
		},
		Fields: func(r query.WebhookAttempt) []any {
			return []any{r.DeliveryID, r.Number, r.StartedAt, r.DurationUs, r.Status, r.Error, r.Answer, r.NextAt, r.Round}
		},
		Kept: func(r query.WebhookAttempt) string { return r.RowSum },
		ID:   func(r query.WebhookAttempt) string { return r.DeliveryID + " " + strconv.FormatInt(r.Number, 10) },
		Store: func(ctx context.Context, tx *db.Tx, r query.WebhookAttempt, sum string) error {
			return tx.WebhookAttemptSum(ctx, query.WebhookAttemptSumParams{RowSum: sum, DeliveryID: r.DeliveryID, Number: r.Number})
		},
	}
)

// FillSums writes the checksums of rows that an older version wrote. A service calls it
// before it serves.
func FillSums(ctx context.Context, d *db.DB) error {
	for _, fill := range []func(context.Context, *db.DB) error{endpointRows.Fill, secretRows.Fill, attemptRows.Fill} {
		if err := fill(ctx, d); err != nil {
			return err
		}
	}
	return nil
}
