package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/lease"
)

// Event is something that happened, for who wants to hear of it.
type Event struct {
	WorkspaceID string
	JobID       string // "" for a test
	Type        string // contract.EventCompleted and its kin
	Data        any    // what is told, as JSON
}

// Tell writes the event of a job that ends, and a delivery for each endpoint of
// its workspace and for the job's own target, in the transaction of the end.
func Tell(ctx context.Context, tx *db.Tx, e Event) error {
	eventID, err := keep(ctx, tx, e)
	if err != nil {
		return err
	}
	endpoints, err := tx.WebhookTargets(ctx, query.WebhookTargetsParams{WorkspaceID: e.WorkspaceID, JobID: e.JobID})
	if err != nil {
		return fmt.Errorf("read webhook endpoints: %w", err)
	}
	for _, endpoint := range endpoints {
		if err := send(ctx, tx, eventID, e.JobID, endpoint); err != nil {
			return err
		}
	}
	return nil
}

// keep writes an event; its body is made here and never again.
func keep(ctx context.Context, tx *db.Tx, e Event) (eventID string, err error) {
	var body bytes.Buffer
	w := json.NewEncoder(&body)
	w.SetEscapeHTML(false) // as the API writes it
	err = w.Encode(struct {
		Type      string    `json:"type"`
		Timestamp time.Time `json:"timestamp"`
		Data      any       `json:"data"`
	}{e.Type, tx.Time(), e.Data})
	if err != nil {
		return "", fmt.Errorf("write webhook event: %w", err)
	}
	eventID = id.New(id.Event)
	err = tx.WebhookEventCreate(ctx, query.WebhookEventCreateParams{
		EventID: eventID, WorkspaceID: e.WorkspaceID, JobID: e.JobID, Type: e.Type, Body: strings.TrimSuffix(body.String(), "\n"), CreatedAt: tx.Now,
	})
	if err != nil {
		return "", fmt.Errorf("keep webhook event: %w", err)
	}
	return eventID, nil
}

// send has an event delivered to an endpoint. The lane is locked first, as
// everywhere: the new row locks its endpoint too.
func send(ctx context.Context, tx *db.Tx, eventID, jobID string, to query.WebhookEndpoint) error {
	if err := hurry(ctx, tx, to.Lane); err != nil {
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

// deliveryID is made of both ids: an event goes to an endpoint once. The query
// WebhookDeliverMissed makes it too.
func deliveryID(eventID, endpointID string) string {
	return id.Delivery + strings.TrimPrefix(eventID, id.Event) + strings.TrimPrefix(endpointID, id.Endpoint)
}

// laneOf names the lane of one receiver of a workspace.
func laneOf(workspaceID, receiver string) string { return workspaceID + "/" + receiver }

func workspaceOf(lane string) string {
	workspaceID, _, _ := strings.Cut(lane, "/")
	return workspaceID
}

// hurry has a lane driven at once. Where a transaction hurries several, they come
// in the order of their names.
func hurry(ctx context.Context, tx *db.Tx, lane string) error {
	tx.Announce(laneTopic(lane)) // its driver, if it has one, looks again
	return lease.AddOrAdvance(ctx, tx, Queue, lane, 0, tx.Time())
}

// laneTopic is announced when a lane has got something to do.
func laneTopic(lane string) string { return "webhook:" + lane }
