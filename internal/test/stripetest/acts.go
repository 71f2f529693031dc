package stripetest

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/stripe/stripe-go/v86"
	"github.com/stripe/stripe-go/v86/webhook"
)

// act changes a session under the lock and queues the events of it. A change that Stripe
// would refuse is an error.
func (p *Provider) act(name string, change func(s *session) (events []pending, err error)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.find(name)
	if s == nil {
		return fmt.Errorf("there is no session, payment or top-up %s", name)
	}
	events, err := change(s)
	for _, e := range events {
		p.queue(s, e)
	}
	return err
}

// pending is an event before it has a name.
type pending struct {
	kind string
	of   object
}

// queue adds an event.
func (p *Provider) queue(s *session, e pending) {
	id := p.name("evt")
	body, _ := json.Marshal(object{ // of texts and numbers
		"id": id, "object": "event", "api_version": stripe.APIVersion, "created": time.Now().Unix(), "data": object{"object": e.of}, "livemode": false,
		"pending_webhooks": 1, "request": object{"id": nil, "idempotency_key": nil}, "type": e.kind,
	})
	p.events = append(p.events, Event{id, e.kind, s.topUp, body})
}

// Events takes the events that were queued since the last call.
func (p *Provider) Events() []Event {
	p.mu.Lock()
	defer p.mu.Unlock()
	taken := p.events
	p.events = nil
	return taken
}

// Sign returns the signature of an event at a time.
func Sign(body []byte, secret string, at time.Time) string {
	return webhook.GenerateTestSignedPayload(&webhook.UnsignedPayload{Payload: body, Secret: secret, Timestamp: at}).Header
}

// Pay pays a session by a card.
func (p *Provider) Pay(name string) error {
	return p.act(name, func(s *session) ([]pending, error) {
		if err := p.submit(s); err != nil {
			return nil, err
		}
		s.paymentStatus, s.paymentState = "paid", "succeeded"
		return []pending{{"checkout.session.completed", p.shown(s, false)}}, nil
	})
}

// PayLater pays a session by a method whose money comes later: see Arrive and Bounce.
func (p *Provider) PayLater(name string) error {
	return p.act(name, func(s *session) ([]pending, error) {
		if err := p.submit(s); err != nil {
			return nil, err
		}
		s.paymentState = "processing"
		return []pending{{"checkout.session.completed", p.shown(s, false)}}, nil
	})
}

func (p *Provider) submit(s *session) error {
	if s.status != "open" {
		return fmt.Errorf("session %s is %s", s.id, s.status)
	}
	s.status, s.payment = "complete", p.name("pi")
	if s.customer == "" {
		s.customer = p.name("cus")
	}
	return nil
}

// Arrive has the money of a later payment come.
func (p *Provider) Arrive(name string) error {
	return p.act(name, func(s *session) ([]pending, error) {
		if s.paymentState != "processing" {
			return nil, fmt.Errorf("payment %s is %s", s.payment, s.paymentState)
		}
		s.paymentStatus, s.paymentState = "paid", "succeeded"
		return []pending{{"checkout.session.async_payment_succeeded", p.shown(s, false)}}, nil
	})
}

// Bounce has the bank refuse a later payment.
func (p *Provider) Bounce(name string) error {
	return p.act(name, func(s *session) ([]pending, error) {
		if s.paymentState != "processing" {
			return nil, fmt.Errorf("payment %s is %s", s.payment, s.paymentState)
		}
		s.paymentState = "requires_payment_method"
		return []pending{{"checkout.session.async_payment_failed", p.shown(s, false)}}, nil
	})
}

// Expire ends the time to pay.
func (p *Provider) Expire(name string) error {
	return p.act(name, func(s *session) ([]pending, error) {
		if s.status != "open" {
			return nil, fmt.Errorf("session %s is %s", s.id, s.status)
		}
		s.status = "expired"
		return []pending{{"checkout.session.expired", p.shown(s, false)}}, nil
	})
}

// Refund gives a part of a payment back.
func (p *Provider) Refund(name string, cents int64) error {
	return p.act(name, func(s *session) ([]pending, error) {
		if s.paymentStatus != "paid" || cents < 1 || s.refunded+s.held()+cents > s.total {
			return nil, fmt.Errorf("%d of %d cents cannot be refunded: %s, %d are", cents, s.total, s.paymentStatus, s.refunded)
		}
		s.refunded += cents
		return []pending{{"charge.refunded", s.charge()}}, nil
	})
}

// held is what banks have taken of a payment.
func (s *session) held() (cents int64) {
	for _, d := range s.disputes {
		if d.status != "won" {
			cents += d.cents
		}
	}
	return cents
}

// Dispute has a bank take what is left of a payment, and returns the dispute.
func (p *Provider) Dispute(name string) (disputeID string, err error) {
	return disputeID, p.act(name, func(s *session) ([]pending, error) {
		d := &dispute{p.name("dp"), "needs_response", s.total - s.refunded - s.held()}
		if s.paymentStatus != "paid" || d.cents < 1 {
			return nil, fmt.Errorf("payment %s cannot be disputed", s.payment)
		}
		s.disputes, disputeID = append(s.disputes, d), d.id
		return []pending{{"charge.dispute.created", s.dispute(d)}, {"charge.dispute.funds_withdrawn", s.dispute(d)}}, nil
	})
}

// Close ends the last dispute of a payment, which is won or lost.
func (p *Provider) Close(name string, won bool) error {
	return p.act(name, func(s *session) ([]pending, error) {
		if len(s.disputes) == 0 || s.disputes[len(s.disputes)-1].status != "needs_response" {
			return nil, fmt.Errorf("payment %s has no open dispute", s.payment)
		}
		d := s.disputes[len(s.disputes)-1]
		if d.status = "lost"; won {
			d.status = "won"
			return []pending{{"charge.dispute.closed", s.dispute(d)}, {"charge.dispute.funds_reinstated", s.dispute(d)}}, nil
		}
		return []pending{{"charge.dispute.closed", s.dispute(d)}}, nil
	})
}

// Overturn has the bank give a dispute that was lost back.
func (p *Provider) Overturn(name string) error {
	return p.act(name, func(s *session) ([]pending, error) {
		if len(s.disputes) == 0 || s.disputes[len(s.disputes)-1].status != "lost" {
			return nil, fmt.Errorf("payment %s has no lost dispute", s.payment)
		}
		d := s.disputes[len(s.disputes)-1]
		d.status = "won"
		return []pending{{"charge.dispute.funds_reinstated", s.dispute(d)}, {"charge.dispute.updated", s.dispute(d)}}, nil
	})
}

// Paid reports whether the money of a session has come.
func (p *Provider) Paid(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.find(name)
	return s != nil && s.paymentStatus == "paid"
}

// Newest is the top-up of the newest session; "" when there is none.
func (p *Provider) Newest() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.sessions) == 0 {
		return ""
	}
	return p.sessions[len(p.sessions)-1].topUp
}
