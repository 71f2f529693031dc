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

// Status is how far a delivery has come.
type Status string

// States of a delivery.
const (
	Pending   Status = "pending"   // it is tried, now or later
	Delivered Status = "delivered" // the receiver has taken it
	Failed    Status = "failed"    // nothing more is tried
)

// Reason says why a delivery failed for good, or an endpoint was disabled.
type Reason string

// Reasons.
const (
	Exhausted        Reason = "exhausted"         // of a delivery: all tries failed
	Gone             Reason = "gone"              // the receiver answered 410
	WasDisabled      Reason = "endpoint_disabled" // of a delivery: before it was taken
	WasDeleted       Reason = "endpoint_deleted"
	Failing          Reason = "failing"   // of an endpoint: for days nothing was taken
	DisabledByCaller Reason = "requested" // of an endpoint
)

// quiet is how long an endpoint may hear nothing and still count as failing all
// the while: longer than any pause between tries.
const quiet = 36 * time.Hour

// note writes what became of a call.
func (d *drive) note(ctx context.Context, tx *db.Tx, o outcome) error {
	if o.took == 0 { // no call was made
		return d.giveUp(ctx, tx, o.delivery.DeliveryID)
	}
	status, reason, next := d.verdict(o, tx.Time())
	ended := tx.Now
	if status == Pending {
		ended = 0
	}
	n, err := tx.WebhookDeliveryTried(ctx, query.WebhookDeliveryTriedParams{
		Status: string(status), Reason: string(reason), NextAt: db.Micros(next), EndedAt: ended, DeliveryID: o.delivery.DeliveryID,
	})
	if err != nil {
		return fmt.Errorf("write webhook delivery: %w", err)
	}
	if n == 0 {
		return nil // its endpoint was disabled meanwhile
	}
	err = tx.WebhookAttemptAdd(ctx, query.WebhookAttemptAddParams{
		DeliveryID: o.delivery.DeliveryID, Number: o.delivery.Tries + 1, StartedAt: db.Micros(o.at), DurationUs: o.took.Microseconds(),
		Status: int64(o.status), Error: o.err, Answer: o.answer, NextAt: db.Micros(next),
	})
	if err != nil {
		return fmt.Errorf("write webhook attempt: %w", err)
	}
	if o.endpoint.JobID != "" {
		return nil // a job's own target hears once; its schedule ends it
	}
	return d.health(ctx, tx, o)
}

func (d *drive) giveUp(ctx context.Context, tx *db.Tx, deliveryID string) error {
	err := tx.WebhookDeliveryFail(ctx, query.WebhookDeliveryFailParams{Reason: string(WasDisabled), Now: tx.Now, DeliveryID: deliveryID})
	if err != nil {
		return fmt.Errorf("end webhook delivery: %w", err)
	}
	return nil
}

// verdict says what follows from a call; next is zero when nothing does.
func (d *drive) verdict(o outcome, now time.Time) (status Status, reason Reason, next time.Time) {
	if o.taken() {
		return Delivered, "", time.Time{}
	}
	if o.status == http.StatusGone {
		return Failed, Gone, time.Time{}
	}
	wait, more := pause(o.delivery.Round+1, o.wish, d.Jitter())
	if !more {
		return Failed, Exhausted, time.Time{}
	}
	return Pending, "", now.Add(wait)
}

// health keeps how long an endpoint of a workspace has been failing, and disables
// it when that is too long, or when it says itself that it is gone.
func (d *drive) health(ctx context.Context, tx *db.Tx, o outcome) error {
	if o.taken() && o.endpoint.FailingSince == 0 {
		return nil
	}
	endpoint, err := tx.WebhookEndpointLock(ctx, o.endpoint.EndpointID)
	if err != nil {
		return fmt.Errorf("read webhook endpoint: %w", err)
	}
	p := query.WebhookEndpointHealthParams{EndpointID: endpoint.EndpointID}
	if !o.taken() {
		p.FailingSince, p.LastFailedAt = endpoint.FailingSince, tx.Now
		if p.FailingSince == 0 || tx.Now-endpoint.LastFailedAt > quiet.Microseconds() {
			p.FailingSince = tx.Now
		}
	}
	if err := tx.WebhookEndpointHealth(ctx, p); err != nil {
		return fmt.Errorf("write webhook endpoint: %w", err)
	}
	switch {
	case o.taken():
		return nil
	case o.status == http.StatusGone:
		return d.breakOff(ctx, tx, endpoint.EndpointID, Gone)
	case tx.Now-p.FailingSince >= contract.WebhookBreaker.Microseconds():
		return d.breakOff(ctx, tx, endpoint.EndpointID, Failing)
	}
	return nil
}

// breakOff disables an endpoint, not by its owner's wish, and has the owner told.
func (d *drive) breakOff(ctx context.Context, tx *db.Tx, endpointID string, why Reason) error {
	d.stock = nil // none of what waits for it is called
	disabled, err := disable(ctx, tx, endpointID, why, WasDisabled)
	if err != nil || !disabled {
		return err
	}
	d.Log.Warn("a webhook endpoint is disabled", "endpoint_id", endpointID, "reason", why)
	return lease.Add(ctx, tx, NoticeQueue, endpointID, 0, tx.Time())
}

// disable ends an endpoint and all that waits for it. Its lane's lease is the
// caller's to end.
func disable(ctx context.Context, tx *db.Tx, endpointID string, why, theirs Reason) (disabled bool, err error) {
	n, err := tx.WebhookEndpointDisable(ctx, query.WebhookEndpointDisableParams{Now: tx.Now, Reason: string(why), EndpointID: endpointID})
	if err != nil {
		return false, fmt.Errorf("disable webhook endpoint: %w", err)
	}
	err = tx.WebhookDeliveriesFail(ctx, query.WebhookDeliveriesFailParams{Reason: string(theirs), Now: tx.Now, EndpointID: endpointID})
	if err != nil {
		return false, fmt.Errorf("end webhook deliveries: %w", err)
	}
	return n == 1, nil
}
