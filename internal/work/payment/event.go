package payment

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v86/webhook"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
)

// MaxEventBytes bounds the body of an event.
const MaxEventBytes = 64 << 10

// tolerance is how old an event's signature may be.
const tolerance = 5 * time.Minute

// Event is the body of a provider's call: which of its objects changed, and the name of
// the change. Nothing else in it is trusted.
type Event struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	Data struct {
		Object struct {
			ID                string          `json:"id"`
			Object            string          `json:"object"`
			ClientReferenceID string          `json:"client_reference_id"`
			PaymentIntent     json.RawMessage `json:"payment_intent"` // a name, or the object
		} `json:"object"`
	} `json:"data"`
}

// Ring receives an event: it checks the signature over the raw body, finds the top-up and
// reads its state. An event about something else is accepted and does nothing. Errors:
// payments_unavailable without a provider; invalid_signature; unavailable when the provider
// does not answer, and should send the event again.
func (p *Payments) Ring(ctx context.Context, body []byte, signature string) error {
	if !p.Available() || len(p.Secrets) == 0 {
		return unavailable()
	}
	if !p.signed(body, signature) {
		return fault.New(fault.InvalidSignature, "The event is not signed with one of this service's secrets, or was signed more than %s ago.", tolerance)
	}
	var event Event
	if err := json.Unmarshal(body, &event); err != nil || event.ID == "" {
		return fault.New(fault.InvalidRequest, "The body is not an event.")
	}
	topUpID, err := p.topUpOf(ctx, event)
	if err == nil && topUpID != "" {
		err = p.Read(ctx, topUpID, &event)
	}
	if err != nil {
		return fault.New(fault.Unavailable, "The event could not be processed. Send it again.").After(time.Minute).Wrap(err)
	}
	if p.Rung != nil {
		p.Rung()
	}
	return nil
}

func (p *Payments) signed(body []byte, signature string) bool {
	for _, secret := range p.Secrets {
		if webhook.ValidatePayloadWithTolerance(body, signature, secret, tolerance) == nil {
			return true
		}
	}
	return false
}

// topUpOf finds the top-up whose page or payment an event is about; "" for none. If no row
// has the payment yet, because the event overtook that of the page, the provider knows
// whose it is.
func (p *Payments) topUpOf(ctx context.Context, event Event) (topUpID string, err error) {
	object := event.Data.Object
	paymentID := nameOf(object.PaymentIntent)
	switch {
	case object.Object == "checkout.session":
		topUpID = object.ClientReferenceID
	case paymentID != "":
		err = p.DB.Read(ctx, func(tx *db.Tx) error {
			topUpID, err = tx.TopUpByPayment(ctx, paymentID)
			return err
		})
		if db.IsNotFound(err) {
			topUpID, err = p.Provider.TopUpOf(ctx, paymentID)
		}
		if err != nil {
			return "", fmt.Errorf("find the top-up of payment %s: %w", paymentID, err)
		}
	}
	if !id.Valid(id.TopUp, topUpID) {
		return "", nil
	}
	err = p.DB.Read(ctx, func(tx *db.Tx) error {
		_, err := tx.TopUpGet(ctx, topUpID)
		return err
	})
	if db.IsNotFound(err) {
		return "", nil // of another service with the same account
	}
	return topUpID, err
}

// nameOf reads the name of an object that may be written out.
func nameOf(raw json.RawMessage) string {
	var name string
	var whole struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(raw, &name) != nil {
		_ = json.Unmarshal(raw, &whole) // neither: it has no name
	}
	return strings.TrimSpace(name + whole.ID)
}

// record adds an event, once.
func (e Event) record(ctx context.Context, tx *db.Tx, topUpID string) (known bool, err error) {
	row := query.PaymentEvent{EventID: e.ID, Type: e.Type, TopUpID: topUpID, ReceivedAt: tx.Now}
	row.RowSum = eventRows.Of(row)
	added, err := tx.PaymentEventAdd(ctx, query.PaymentEventAddParams(row))
	if err != nil {
		return false, fmt.Errorf("record event %s: %w", e.ID, err)
	}
	return added == 0, nil
}
