package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
)

// Delivery is one event on its way to one endpoint, with its log. Tries counts the
// calls over all rounds: a redelivery starts a new round of the schedule and counts on.
type Delivery struct {
	DeliveryID string     `json:"delivery_id" doc:"Begins with WHD-."`
	EventID    string     `json:"event_id" doc:"The webhook-id of every try; begins with msg_."`
	EventType  string     `json:"event_type"`
	EndpointID string     `json:"endpoint_id"`
	JobID      *string    `json:"job_id" doc:"Null for a test."`
	URL        string     `json:"url"`
	Status     Status     `json:"status" enum:"pending,delivered,failed"`
	Reason     *Reason    `json:"reason" doc:"Why nothing more is tried." enum:"exhausted,gone,endpoint_disabled,endpoint_deleted"`
	Tries      int        `json:"tries"`
	NextTryAt  *time.Time `json:"next_try_at" doc:"Null unless pending."`
	CreatedAt  time.Time  `json:"created_at"`
	EndedAt    *time.Time `json:"ended_at"`
	Attempts   []Attempt  `json:"attempts" doc:"Oldest first."`
}

// Attempt is one try of a delivery, as the log shows it.
type Attempt struct {
	Number     int        `json:"number" minimum:"1"`
	StartedAt  time.Time  `json:"started_at"`
	DurationMS int64      `json:"duration_ms"`
	Status     *int       `json:"status" doc:"Of the answer; null when none came."`
	Error      *string    `json:"error" doc:"Why no answer came."`
	Answer     string     `json:"answer" doc:"The first 1024 bytes of the answer's body."`
	NextTryAt  *time.Time `json:"next_try_at" doc:"When the next try was due; null when none was."`
}

// deliveryRow is the row that all delivery queries return.
type deliveryRow = query.WebhookDeliveryGetRow

// deliveriesOf adds the attempts to deliveries. It reads the attempts of all
// deliveries in one query, so that a page of any length costs the same number of
// queries.
func deliveriesOf(ctx context.Context, tx *db.Tx, rows []deliveryRow) ([]Delivery, error) {
	out, ids, at := make([]Delivery, len(rows)), make([]string, len(rows)), map[string]int{}
	for i, r := range rows {
		out[i] = deliveryOf(r)
		ids[i] = r.WebhookDelivery.DeliveryID
		at[ids[i]] = i
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, fmt.Errorf("list delivery ids: %w", err)
	}
	attempts, err := tx.WebhookAttemptsOf(ctx, string(list))
	if err != nil {
		return nil, fmt.Errorf("read webhook attempts: %w", err)
	}
	for _, r := range attempts {
		d := &out[at[r.DeliveryID]]
		d.Attempts = append(d.Attempts, attemptOf(r))
	}
	return out, nil
}

// deliveryOf shows the time of the next try only while one is due: the column keeps its
// last value after the delivery ends. It leaves Attempts empty, never nil, so that the
// JSON holds an array.
func deliveryOf(r deliveryRow) Delivery {
	d := r.WebhookDelivery
	out := Delivery{
		DeliveryID: d.DeliveryID, EventID: d.EventID, EventType: r.Type, EndpointID: d.EndpointID, JobID: db.Optional(d.JobID), URL: r.Url,
		Status: Status(d.Status), Tries: int(d.Tries), CreatedAt: db.Time(d.CreatedAt), EndedAt: db.OptionalTime(d.EndedAt), Attempts: []Attempt{},
	}
	if d.Reason != "" {
		reason := Reason(d.Reason)
		out.Reason = &reason
	}
	if out.Status == Pending {
		out.NextTryAt = db.OptionalTime(d.NextAt)
	}
	return out
}

// attemptOf turns the row's zeros into nulls: a status of 0 means that no answer came,
// and an error of "" that one did.
func attemptOf(r query.WebhookAttempt) Attempt {
	a := Attempt{
		Number: int(r.Number), StartedAt: db.Time(r.StartedAt), DurationMS: r.DurationUs / 1000,
		Error: db.Optional(r.Error), Answer: r.Answer, NextTryAt: db.OptionalTime(r.NextAt),
	}
	if r.Status != 0 {
		status := int(r.Status)
		a.Status = &status
	}
	return a
}

// OfJob lists a job's deliveries, newest first: one for each endpoint that was enabled
// when the job ended, one for the job's own target, and those that RedeliverSince has
// added. The caller has checked that the job belongs to the workspace.
func (h *Hooks) OfJob(ctx context.Context, jobID string) (all []Delivery, err error) {
	err = h.DB.Read(ctx, func(tx *db.Tx) error {
		rows, err := tx.WebhookDeliveriesOfJob(ctx, jobID)
		if err != nil {
			return fmt.Errorf("list webhook deliveries: %w", err)
		}
		found := make([]deliveryRow, len(rows))
		for i, r := range rows {
			found[i] = deliveryRow(r)
		}
		all, err = deliveriesOf(ctx, tx, found)
		return err
	})
	return all, err
}

// Page selects deliveries of an endpoint. Limit is 1 or more.
type Page struct {
	Status Status // "" means any
	Before string // the page begins after this delivery id; "" means the newest
	Limit  int
}

// OfEndpoint lists deliveries to an endpoint of a workspace, newest first. more
// reports whether older ones follow. Errors: webhook_endpoint_not_found.
func (h *Hooks) OfEndpoint(ctx context.Context, workspaceID, endpointID string, p Page) (page []Delivery, more bool, err error) {
	if p.Before == "" {
		p.Before = id.Behind(id.Delivery)
	}
	err = h.DB.Read(ctx, func(tx *db.Tx) error {
		row, err := tx.WebhookEndpointGet(ctx, endpointID)
		if err := owned(row, err, workspaceID, endpointID); err != nil {
			return err
		}
		rows, err := tx.WebhookDeliveriesOfEndpoint(ctx, query.WebhookDeliveriesOfEndpointParams{
			EndpointID: endpointID, Before: p.Before, Status: string(p.Status), Max: int64(p.Limit) + 1,
		})
		if err != nil {
			return fmt.Errorf("list webhook deliveries: %w", err)
		}
		// The query asks for one row more than the page holds. That row only proves
		// that another page exists.
		if more = len(rows) > p.Limit; more {
			rows = rows[:p.Limit]
		}
		found := make([]deliveryRow, len(rows))
		for i, r := range rows {
			found[i] = deliveryRow(r)
		}
		page, err = deliveriesOf(ctx, tx, found)
		return err
	})
	return page, more, err
}

// EndpointDeliveries is an endpoint with its newest deliveries.
type EndpointDeliveries struct {
	Endpoint
	Deliveries []Delivery // newest first
}

// Overview lists the endpoints of a workspace, newest first, each with at most each
// (1 or more) of its newest deliveries. It takes three queries for any number of
// endpoints, because the webhook page shows all of them at once.
func (h *Hooks) Overview(ctx context.Context, workspaceID string, each int) (all []EndpointDeliveries, err error) {
	err = h.DB.Read(ctx, func(tx *db.Tx) error {
		endpoints, err := tx.WebhookEndpointsOf(ctx, workspaceID)
		if err != nil {
			return fmt.Errorf("list webhook endpoints: %w", err)
		}
		rows, err := tx.WebhookNewestDeliveries(ctx, query.WebhookNewestDeliveriesParams{WorkspaceID: workspaceID, Each: int64(each)})
		if err != nil {
			return fmt.Errorf("list webhook deliveries: %w", err)
		}
		found := make([]deliveryRow, len(rows))
		for i, r := range rows {
			found[i] = deliveryRow(r)
		}
		deliveries, err := deliveriesOf(ctx, tx, found)
		if err != nil {
			return err
		}
		byEndpoint := map[string][]Delivery{}
		for _, d := range deliveries {
			byEndpoint[d.EndpointID] = append(byEndpoint[d.EndpointID], d)
		}
		all = make([]EndpointDeliveries, len(endpoints))
		for i, r := range endpoints {
			all[i] = EndpointDeliveries{endpointOf(r), byEndpoint[r.EndpointID]}
		}
		return nil
	})
	return all, err
}

// TestOf is the data of the event webhook.test.
type TestOf struct {
	EndpointID string `json:"endpoint_id" doc:"Begins with WHE-."`
}

// Test sends a webhook.test event to one endpoint, so that an owner can try a receiver
// without rendering. It returns before the call is made; the delivery's log shows what
// came of it. A repeated call sends another test. Errors: webhook_endpoint_not_found,
// webhook_endpoint_disabled.
func (h *Hooks) Test(ctx context.Context, workspaceID, endpointID string) (d Delivery, err error) {
	err = h.withLocked(ctx, workspaceID, endpointID, func(tx *db.Tx, row query.WebhookEndpoint) error {
		if row.DisabledAt != 0 {
			return isDisabled(endpointID)
		}
		eventID, err := storeEvent(ctx, tx, Event{WorkspaceID: workspaceID, Type: contract.EventTest, Test: h.TestMode, Data: TestOf{endpointID}})
		if err != nil {
			return err
		}
		if err := addDelivery(ctx, tx, eventID, "", row); err != nil {
			return err
		}
		d, err = readDelivery(ctx, tx, deliveryID(eventID, endpointID))
		return err
	})
	return d, err
}

// isDisabled refuses to send to an endpoint that is off: the delivery would fail at
// once, and the caller can enable the endpoint first.
func isDisabled(endpointID string) error {
	return fault.New(fault.EndpointDisabled, "The webhook endpoint %s is disabled.", endpointID)
}

// noDelivery is the answer for a delivery that does not exist, belongs to another
// workspace or to another job: the three must look alike.
func noDelivery(deliveryID string) error {
	return fault.New(fault.DeliveryNotFound, "This render has no delivery %s.", deliveryID)
}

// readDelivery returns one delivery with its log, as the transaction has left it.
func readDelivery(ctx context.Context, tx *db.Tx, deliveryID string) (Delivery, error) {
	row, err := tx.WebhookDeliveryGet(ctx, deliveryID)
	if err != nil {
		return Delivery{}, fmt.Errorf("read webhook delivery: %w", err)
	}
	all, err := deliveriesOf(ctx, tx, []deliveryRow{row})
	if err != nil {
		return Delivery{}, err
	}
	return all[0], nil
}
