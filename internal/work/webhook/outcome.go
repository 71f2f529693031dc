package webhook

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/lease"
)

// Status is the state of a delivery.
type Status string

// States of a delivery.
const (
	Pending   Status = "pending"   // a try is due now or later
	Delivered Status = "delivered" // the receiver answered 2xx
	Failed    Status = "failed"    // no further try follows
)

// Reason explains why a delivery failed for good, or why an endpoint was disabled.
type Reason string

// Reasons.
const (
	Exhausted        Reason = "exhausted"         // of a delivery: every try of the schedule failed
	Gone             Reason = "gone"              // the receiver answered 410
	WasDisabled      Reason = "endpoint_disabled" // of a delivery: its endpoint was disabled first
	WasDeleted       Reason = "endpoint_deleted"
	Failing          Reason = "failing"   // of an endpoint: no try succeeded for contract.WebhookBreaker
	DisabledByCaller Reason = "requested" // of an endpoint: its owner disabled it
)

// Verdict is what an attempt came to.
type Verdict string

// Verdicts.
const (
	VerdictDelivered  Verdict = "delivered"  // the receiver answered 2xx
	VerdictRefused    Verdict = "refused"    // it answered anything else
	VerdictUnanswered Verdict = "unanswered" // no answer came
)

// Verdicts lists them.
func Verdicts() []Verdict { return []Verdict{VerdictDelivered, VerdictRefused, VerdictUnanswered} }

// verdict sums an attempt up.
func (o outcome) verdict() Verdict {
	switch {
	case o.succeeded():
		return VerdictDelivered
	case o.status == 0:
		return VerdictUnanswered
	}
	return VerdictRefused
}

// failureGap is the longest time between two failures that still counts as one period
// of failure. It is longer than any pause of the schedule, so that an endpoint with few
// events does not look healthy between two tries. After a longer silence a new period
// starts: it is unknown whether the receiver worked in between.
const failureGap = 36 * time.Hour

// recordAttempt stores the outcome of one attempt and updates the endpoint's health.
// The transaction holds the delivery queue's lease (record), so no other process stores an
// outcome of this delivery at the same time.
func (d *queueDriver) recordAttempt(ctx context.Context, tx *db.Tx, o outcome) error {
	if o.took == 0 { // the endpoint was disabled before the call
		return d.failDisabled(ctx, tx, o.delivery.DeliveryID)
	}
	status, reason, next := d.statusAfter(o, tx.Time())
	ended := tx.Now
	if status == Pending {
		ended = 0
	}
	round, err := tx.WebhookDeliveryTried(ctx, query.WebhookDeliveryTriedParams{
		Status: string(status), Reason: string(reason), NextAt: db.Micros(next), EndedAt: ended, DeliveryID: o.delivery.DeliveryID,
	})
	if db.IsNotFound(err) {
		return nil // the endpoint was disabled during the call; its delivery has ended already
	}
	if err != nil {
		return fmt.Errorf("write webhook delivery: %w", err)
	}
	row := query.WebhookAttempt{
		DeliveryID: o.delivery.DeliveryID, Number: o.delivery.Tries + 1, Round: round, StartedAt: db.Micros(o.at), DurationUs: o.took.Microseconds(),
		Status: int64(o.status), Error: o.err, Answer: o.answer, NextAt: db.Micros(next),
	}
	row.RowSum = attemptRows.Of(row)
	if err := tx.WebhookAttemptAdd(ctx, query.WebhookAttemptAddParams(row)); err != nil {
		return fmt.Errorf("write webhook attempt: %w", err)
	}
	if d.Attempted != nil {
		tx.AfterCommit(func() { d.Attempted(o.verdict()) })
	}
	if o.endpoint.JobID != "" {
		return nil // a job's own target receives one event; its schedule ends it
	}
	return d.updateHealth(ctx, tx, o)
}

// failDisabled ends a delivery that was written while its endpoint was being disabled:
// disable had failed all waiting deliveries before this one was there.
func (d *queueDriver) failDisabled(ctx context.Context, tx *db.Tx, deliveryID string) error {
	err := tx.WebhookDeliveryFail(ctx, query.WebhookDeliveryFailParams{Reason: string(WasDisabled), Now: tx.Now, DeliveryID: deliveryID})
	if err != nil {
		return fmt.Errorf("end webhook delivery: %w", err)
	}
	return nil
}

// statusAfter decides what follows from an outcome; next is zero when no further try
// follows. Only the status decides, never the body (decisions 9): 2xx delivers, 410
// ends the delivery, everything else is tried again until the schedule ends.
func (d *queueDriver) statusAfter(o outcome, now time.Time) (status Status, reason Reason, next time.Time) {
	if o.succeeded() {
		return Delivered, "", time.Time{}
	}
	if o.status == http.StatusGone {
		return Failed, Gone, time.Time{}
	}
	wait, more := pause(o.delivery.Round+1, o.retryAfter, d.Jitter())
	if !more {
		return Failed, Exhausted, time.Time{}
	}
	return Pending, "", now.Add(wait)
}

// updateHealth keeps since when an endpoint has been failing. It disables the
// endpoint after contract.WebhookBreaker of failures, or at once when the receiver
// answers 410.
func (d *queueDriver) updateHealth(ctx context.Context, tx *db.Tx, o outcome) error {
	if o.succeeded() && o.endpoint.FailingSince == 0 {
		return nil
	}
	endpoint, err := tx.WebhookEndpointLock(ctx, o.endpoint.EndpointID)
	if err != nil {
		return fmt.Errorf("read webhook endpoint: %w", err)
	}
	p := query.WebhookEndpointHealthParams{EndpointID: endpoint.EndpointID}
	if !o.succeeded() {
		p.FailingSince, p.LastFailedAt = endpoint.FailingSince, tx.Now
		if p.FailingSince == 0 || tx.Now-endpoint.LastFailedAt > failureGap.Microseconds() {
			p.FailingSince = tx.Now
		}
	}
	changed, err := tx.WebhookEndpointHealth(ctx, p)
	if _, err := endpointRows.Changed(ctx, tx, changed, err); err != nil {
		return fmt.Errorf("write webhook endpoint: %w", err)
	}
	switch {
	case o.succeeded():
		return nil
	case o.status == http.StatusGone:
		return d.disableFailing(ctx, tx, endpoint.EndpointID, Gone)
	case tx.Now-p.FailingSince >= contract.WebhookBreaker.Microseconds():
		return d.disableFailing(ctx, tx, endpoint.EndpointID, Failing)
	}
	return nil
}

// disableFailing disables an endpoint that its owner did not disable, and queues a
// notice to the owner. When the endpoint is disabled already it does nothing more, so
// an owner gets one mail, however many calls fail at once.
func (d *queueDriver) disableFailing(ctx context.Context, tx *db.Tx, endpointID string, why Reason) error {
	d.due = nil // what waits for this endpoint is not called any more
	disabled, err := disable(ctx, tx, endpointID, why, WasDisabled)
	if err != nil || !disabled {
		return err
	}
	d.Log.Warn("a webhook endpoint is disabled", "endpoint_id", endpointID, "reason", why)
	return lease.Add(ctx, tx, NoticeQueue, endpointID, 0, tx.Time())
}

// disable ends an endpoint and fails its waiting deliveries. The caller ends the delivery
// queue's lease. It returns false when the endpoint was disabled before.
func disable(ctx context.Context, tx *db.Tx, endpointID string, why, deliveryReason Reason) (disabled bool, err error) {
	row, err := tx.WebhookEndpointDisable(ctx, query.WebhookEndpointDisableParams{Now: tx.Now, Reason: string(why), EndpointID: endpointID})
	n, err := endpointRows.Changed(ctx, tx, row, err)
	if err != nil {
		return false, fmt.Errorf("disable webhook endpoint: %w", err)
	}
	err = tx.WebhookDeliveriesFail(ctx, query.WebhookDeliveriesFailParams{Reason: string(deliveryReason), Now: tx.Now, EndpointID: endpointID})
	if err != nil {
		return false, fmt.Errorf("end webhook deliveries: %w", err)
	}
	return n == 1, nil
}
