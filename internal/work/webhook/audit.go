package webhook

import (
	"context"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/seal"
)

// Breach is one row, or one set of rows, that breaks a rule of this package. Rule is
// the rule as a sentence, Thing the id that it is about, Detail what was found instead.
type Breach struct{ Rule, Thing, Detail string }

// Audit checks that every ended job has its event and its own target's delivery, that
// events are deleted as a whole, that every waiting delivery has a lane in the queue,
// that each delivery's log agrees with its state, and that every endpoint has a secret
// that opens with the service's keys. It only reads; it repairs nothing, because a
// repair would hide the defect that made the row. An error means that the audit did not
// finish.
func Audit(ctx context.Context, tx *db.Tx, keys *seal.Keys) (found []Breach, err error) {
	breach := func(rule, thing, format string, args ...any) {
		found = append(found, Breach{rule, thing, fmt.Sprintf(format, args...)})
	}
	events, err := tx.AuditWebhookEvents(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range events {
		breach("a job that has ended has one event", r.JobID, "%s with %d events, the first %q", r.Status, r.Events, r.Type)
	}
	missing, err := tx.AuditWebhookMissing(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range missing {
		breach("a job's own target gets the job's event", r.JobID, "no delivery to %s", r.EndpointID)
	}
	forgotten, err := tx.AuditWebhookForgotten(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range forgotten {
		breach("an event is kept or forgotten as a whole", r.EventID, "forgotten at %d, and in part only", r.ForgottenAt)
	}
	stuck, err := tx.AuditWebhookStuck(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range stuck {
		breach("a delivery that waits will be made", r.DeliveryID, "its lane %s has no lease", r.Lane)
	}
	tries, err := tx.AuditWebhookTries(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range tries {
		breach("a delivery's log agrees with its state", r.DeliveryID, "%s after %d tries, with %d in the log, %d accepted", r.Status, r.Tries, r.Attempts, r.Taken)
	}
	bare, err := tx.AuditWebhookBare(ctx)
	if err != nil {
		return nil, err
	}
	for _, endpointID := range bare {
		breach("an endpoint has a secret to sign with", endpointID, "it has none")
	}
	return found, auditSecrets(ctx, tx, keys, breach)
}

// auditSecrets opens every secret page by page, so that the size of the store does
// not decide how much memory an audit takes.
func auditSecrets(ctx context.Context, tx *db.Tx, keys *seal.Keys, breach func(rule, thing, format string, args ...any)) error {
	for after := ""; ; {
		rows, err := tx.AuditWebhookSecrets(ctx, after)
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, r := range rows {
			after = r.SecretID
			if _, err := keys.Open(r.Sealed, sealContext(r.SecretID)); err != nil {
				breach("a sealed secret can be opened", r.SecretID, "%v", err)
			}
		}
	}
}
