package webhook

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/seal"
)

// Audit checks that every ended job has its event and its own target's delivery, that the
// events of a workspace are numbered, that events are deleted as a whole, that every
// waiting delivery has a delivery queue in the queue, that each delivery is that of its
// event, its endpoint and its attempts, and that every endpoint has a secret that opens
// with the service's keys. It only reads; it repairs nothing, because a repair would hide
// the defect that made the row. An error means that the audit did not finish.
func Audit(ctx context.Context, tx *db.Tx, keys *seal.Keys, breach func(rule, subject, format string, args ...any)) error {
	for _, audit := range []func(context.Context, *db.Tx, func(rule, subject, format string, args ...any)) error{
		auditEvents, auditEndpoints, auditAttempts, auditDeliveries, auditOrphans,
	} {
		if err := audit(ctx, tx, breach); err != nil {
			return fmt.Errorf("audit webhooks: %w", err)
		}
	}
	// A secret in another row, or under a key that is gone, does not open.
	return secretRows.Audit(ctx, tx, breach, func(r query.WebhookSecret) error {
		if _, err := keys.Open(r.Sealed, sealContext(r.SecretID)); err != nil {
			breach("a sealed secret can be opened", r.SecretID, "%v", err)
		}
		return nil
	})
}

// auditEvents compares events with the jobs that have ended.
func auditEvents(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) error {
	if err := eventRows.Audit(ctx, tx, breach, nil); err != nil {
		return err
	}
	events, err := tx.AuditWebhookEvents(ctx)
	if err != nil {
		return err
	}
	for _, r := range events {
		breach("a job that has ended has one event", r.JobID, "%s with %d events, the first %q", r.Status, r.Events, r.Type)
	}
	unordered, err := tx.AuditWebhookOrder(ctx)
	if err != nil {
		return err
	}
	for _, r := range unordered {
		breach("a workspace's events are numbered from 1 without a gap", r.WorkspaceID, "%d events, numbered from %d to %d", r.Events, r.First, r.Last)
	}
	missing, err := tx.AuditWebhookMissing(ctx)
	if err != nil {
		return err
	}
	for _, r := range missing {
		breach("a job's own target gets the job's event", r.JobID, "no delivery to %s", r.EndpointID)
	}
	forgotten, err := tx.AuditWebhookForgotten(ctx)
	if err != nil {
		return err
	}
	for _, r := range forgotten {
		breach("an event is kept or forgotten as a whole", r.EventID, "forgotten at %d, and in part only", r.ForgottenAt)
	}
	return nil
}

// auditEndpoints compares endpoints with their secrets and, a job's own target, with the
// job.
func auditEndpoints(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) error {
	if err := endpointRows.Audit(ctx, tx, breach, nil); err != nil {
		return err
	}
	bare, err := tx.AuditWebhookBare(ctx)
	if err != nil {
		return err
	}
	for _, endpointID := range bare {
		breach("an endpoint has a secret to sign with", endpointID, "it has none")
	}
	owners, err := tx.AuditWebhookOwners(ctx)
	if err != nil {
		return err
	}
	for _, r := range owners {
		breach("a job's own target is its workspace's", r.EndpointID, "it belongs to %q, its job to %q", r.WorkspaceID, r.JobWorkspaceID)
	}
	return nil
}

// auditAttempts compares attempts with what was written: each is made once.
func auditAttempts(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) error {
	return attemptRows.Audit(ctx, tx, breach, nil)
}

// auditDeliveries compares each delivery with its event, its endpoint and its attempts.
func auditDeliveries(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) error {
	stuck, err := tx.AuditWebhookStuck(ctx)
	if err != nil {
		return err
	}
	for _, r := range stuck {
		breach("a delivery that waits will be made", r.DeliveryID, "its delivery queue %s has no lease", r.Lane)
	}
	for after := ""; ; {
		rows, err := tx.AuditWebhookDeliveries(ctx, after)
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, r := range rows {
			after = r.WebhookDelivery.DeliveryID
			if why := strangeAddress(r); why != "" {
				breach("a delivery is of one event to one endpoint", after, "%s", why)
			}
			if why := strangeState(r, tx.Now); why != "" {
				breach("a delivery's log agrees with its state", after, "%s after %d tries: %s", r.WebhookDelivery.Status, r.WebhookDelivery.Tries, why)
			}
		}
	}
}

// strangeAddress says how a delivery differs from its event or its endpoint; "" if it
// does not. A delivery that was added later is younger than its event.
func strangeAddress(r query.AuditWebhookDeliveriesRow) string {
	d := r.WebhookDelivery
	switch {
	case d.DeliveryID != deliveryID(d.EventID, d.EndpointID):
		return fmt.Sprintf("it is of event %s to endpoint %s", d.EventID, d.EndpointID)
	case d.WorkspaceID != r.EventWorkspaceID || d.WorkspaceID != r.EndpointWorkspaceID:
		return fmt.Sprintf("it belongs to %q, its event to %q, its endpoint to %q", d.WorkspaceID, r.EventWorkspaceID, r.EndpointWorkspaceID)
	case d.JobID != r.EventJobID || (r.EndpointJobID != "" && r.EndpointJobID != d.JobID):
		return fmt.Sprintf("it is of job %q, its event of %q", d.JobID, r.EventJobID)
	case d.Lane != r.EndpointLane:
		return fmt.Sprintf("it is in delivery queue %q, its endpoint in %q", d.Lane, r.EndpointLane)
	case d.CreatedAt < r.EventCreatedAt-clockSlack.Microseconds():
		return "it is older than its event"
	}
	return ""
}

// strangeState says what in a delivery's state its attempts do not explain; "" for
// nothing.
func strangeState(r query.AuditWebhookDeliveriesRow, now int64) string {
	d := r.WebhookDelivery
	taken := r.LastStatus >= 200 && r.LastStatus <= 299
	// A redelivery restarts the schedule and sets its own time.
	again := d.Tries > 0 && d.NextAt != r.LastNextAt
	switch {
	case d.Tries != r.Attempts:
		return fmt.Sprintf("the log has %d", r.Attempts)
	case again && (d.Round != 0 || Status(d.Status) == Delivered), !again && r.LastRound != 0 && d.Round != r.LastRound,
		d.Round < 0 || d.Round > d.Tries, d.Tries > 0 && !again && d.Round == 0:
		return fmt.Sprintf("%d in this round, next at %d, the last attempt says %d and %d", d.Round, d.NextAt, r.LastRound, r.LastNextAt)
	case (Status(d.Status) == Pending) != (d.EndedAt == 0), (Status(d.Status) == Failed) != (d.Reason != ""):
		return fmt.Sprintf("ended at %d with reason %q", d.EndedAt, d.Reason)
	case d.EndedAt != 0 && (d.EndedAt < max(d.CreatedAt, r.LastStartedAt)-clockSlack.Microseconds() || d.EndedAt > now+clockSlack.Microseconds()),
		d.NextAt != 0 && d.NextAt < d.CreatedAt-clockSlack.Microseconds(), d.NextAt == 0 && d.Round == 0:
		return fmt.Sprintf("created at %d, next at %d, ended at %d", d.CreatedAt, d.NextAt, d.EndedAt)
	}
	return strangeEnd(d, taken, r.LastStatus)
}

// strangeEnd says why the last attempt of a delivery cannot have led to its state; "" if it
// can.
func strangeEnd(d query.WebhookDelivery, taken bool, lastStatus int64) string {
	switch Status(d.Status) {
	case Pending:
		if d.Round > 0 && (taken || d.NextAt == 0) {
			return "its last attempt ended it"
		}
		return ""
	case Delivered:
		if taken && d.NextAt == 0 {
			return ""
		}
	case Failed:
		switch Reason(d.Reason) {
		case WasDisabled, WasDeleted:
			return ""
		case Exhausted, Gone:
			if d.NextAt == 0 && !taken && (Reason(d.Reason) == Gone) == (lastStatus == http.StatusGone) {
				return ""
			}
		}
	}
	return fmt.Sprintf("reason %q, and its last attempt was answered %d", d.Reason, lastStatus)
}

// auditOrphans reports rows that name what is not there.
func auditOrphans(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) error {
	orphans, err := tx.AuditWebhookOrphans(ctx)
	if err != nil {
		return err
	}
	for _, r := range orphans {
		breach("what a webhook's row names is there", r.ID, "this %s names what is not", r.Kind)
	}
	return nil
}

// clockSlack is how far a clock may have been wrong when a time was written. Correcting
// a clock must not cause breaches.
const clockSlack = 24 * time.Hour
