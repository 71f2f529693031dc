package webhook

import (
	"context"
	"fmt"
	"strings"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/lease"
	"svc.example/internal/ground/plainjson"
)

// Event is a fact about a job, or a test of an endpoint, that receivers get. Its body
// is fixed when it is stored, so a receiver that gets it days later still reads the job
// as it was at that moment (decisions 9).
type Event struct {
	WorkspaceID string
	JobID       string // "" for a test
	Type        string // contract.EventCompleted and the other Event constants
	Data        any    // encoded as JSON
	Test        bool   // of test mode, which the body states
}

// Publish writes the event of a job that ends, with a delivery for each endpoint of its
// workspace and for the job's own target. It runs in the transaction that ends the job:
// either both are stored, or neither.
//
// It stores the event even without a listener: an endpoint that is created later can
// ask for it by RedeliverSince, and the audit can tell that no end was lost. Call it
// once a job; the audit reports a second event.
func Publish(ctx context.Context, tx *db.Tx, e Event) error {
	eventID, err := storeEvent(ctx, tx, e)
	if err != nil {
		return err
	}
	// The query returns the endpoints by delivery queue. addDelivery locks one delivery
	// queue after the other, and two jobs that end at once must lock theirs in the same
	// order.
	endpoints, err := tx.WebhookTargets(ctx, query.WebhookTargetsParams{WorkspaceID: e.WorkspaceID, JobID: e.JobID})
	if err != nil {
		return fmt.Errorf("read webhook endpoints: %w", err)
	}
	for _, endpoint := range endpoints {
		if err := addDelivery(ctx, tx, eventID, e.JobID, endpoint); err != nil {
			return err
		}
	}
	return nil
}

// storeEvent writes an event. It encodes the body once, because every try must send the
// same bytes: a receiver that verifies an old try against a new body would see a
// forgery. The timestamp in the body is the transaction's time, the same that the job's
// row gets.
//
// An event of a job is the next in its workspace's order. The transaction has moved the
// job's money before and so holds the workspace's wallet, which makes the order that of
// the commits: a reader of one number has seen all lower ones. A second event with the
// same number would break a unique index.
func storeEvent(ctx context.Context, tx *db.Tx, e Event) (eventID string, err error) {
	body, err := plainjson.Marshal(struct {
		Type      string    `json:"type"`
		Timestamp time.Time `json:"timestamp"`
		Test      bool      `json:"test,omitempty"`
		Data      any       `json:"data"`
	}{e.Type, tx.Time(), e.Test, e.Data})
	if err != nil {
		return "", fmt.Errorf("write webhook event: %w", err)
	}
	eventID = id.New(id.Event)
	row := query.WebhookEventCreateParams{
		EventID: eventID, WorkspaceID: e.WorkspaceID, JobID: e.JobID, Type: e.Type, Body: string(body), CreatedAt: tx.Now,
		RequestID: fault.RequestID(ctx),
	}
	row.RowSum = eventRows.Of(row)
	if err := tx.WebhookEventCreate(ctx, row); err != nil {
		return "", fmt.Errorf("keep webhook event: %w", err)
	}
	if e.JobID != "" {
		tx.Announce(eventTopic(e.WorkspaceID))
	}
	return eventID, nil
}

// addDelivery adds a delivery of an event to an endpoint. It locks the delivery queue
// first, because the new row locks its endpoint too, and every writer locks the delivery
// queue before the endpoint.
func addDelivery(ctx context.Context, tx *db.Tx, eventID, jobID string, to query.WebhookEndpoint) error {
	if err := wakeQueue(ctx, tx, to.Lane); err != nil {
		return err
	}
	err := tx.WebhookDeliveryCreate(ctx, query.WebhookDeliveryCreateParams{
		DeliveryID: deliveryID(eventID, to.EndpointID), EventID: eventID, EndpointID: to.EndpointID, WorkspaceID: to.WorkspaceID,
		JobID: jobID, Lane: to.Lane, Now: tx.Now,
	})
	if err != nil {
		return fmt.Errorf("write webhook delivery: %w", err)
	}
	return nil
}

// deliveryID is derived from both ids, so that the primary key keeps an event from
// being delivered to an endpoint twice. The query WebhookDeliverMissed derives it in
// the same way.
func deliveryID(eventID, endpointID string) string {
	return id.Delivery + strings.TrimPrefix(eventID, id.Event) + strings.TrimPrefix(endpointID, id.Endpoint)
}

// queueOf names the delivery queue of one receiver. The workspace comes first,
// so that workspaceOf needs no query.
func queueOf(workspaceID, receiver string) string { return workspaceID + "/" + receiver }

// workspaceOf is the reverse of queueOf. A workspace's id contains no slash.
func workspaceOf(queue string) string {
	workspaceID, _, _ := strings.Cut(queue, "/")
	return workspaceID
}

// wakeQueue schedules a delivery queue for now and wakes the process that drives it. A
// transaction that wakes several delivery queues does so in the order of their names, so
// that two transactions never deadlock.
//
// Both halves are needed. The lease makes a delivery queue that is not driven due; the
// announcement reaches a driver that holds the delivery queue already and would otherwise
// look only after pollInterval.
func wakeQueue(ctx context.Context, tx *db.Tx, queue string) error {
	tx.Announce(queueTopic(queue)) // a running driver reads again what is due
	return lease.AddOrAdvance(ctx, tx, Queue, queue, 0, tx.Time())
}

// queueTopic is the notification topic of a delivery queue. It is announced when a
// delivery of the delivery queue has become due.
func queueTopic(queue string) string { return "webhook:" + queue }
