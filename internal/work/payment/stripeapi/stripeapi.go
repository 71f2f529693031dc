// Package stripeapi asks Stripe: it is the payment provider of package payment.
//
// What always holds: a request carries the version of Stripe's API that the library pins,
// whatever the account's is. A page is made with the top-up's id as idempotency key and as
// client reference. Nothing is printed, and no key is in an error. Start reading at New.
package stripeapi

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v86"

	"svc.example/internal/ground/contract"
	"svc.example/internal/work/payment"
)

// timeout bounds one call.
const timeout = 20 * time.Second

// topUpKey is the name of a top-up in a payment's metadata.
const topUpKey = "top_up"

// Stripe is a payment.Provider. It is safe for concurrent use.
type Stripe struct {
	client *stripe.Client
	name   string // what a person reads that they pay for
}

// New makes the provider of an account's secret key. url is where Stripe's API is; "" means
// Stripe's own. name is what the page shows as the thing being paid for.
func New(key, url, name string) *Stripe {
	c := &stripe.BackendConfig{
		HTTPClient: &http.Client{Timeout: timeout}, MaxNetworkRetries: stripe.Int64(2), EnableTelemetry: stripe.Bool(false),
		LeveledLogger: &stripe.LeveledLogger{Level: stripe.LevelNull}, // it would print refused requests
	}
	if url != "" {
		c.URL = stripe.String(strings.TrimSuffix(url, "/"))
	}
	back := stripe.GetBackendWithConfig(stripe.APIBackend, c)
	return &Stripe{stripe.NewClient(key, stripe.WithBackends(&stripe.Backends{API: back, Connect: back, Uploads: back, MeterEvents: back})), name}
}

// Create makes a Checkout Session.
func (s *Stripe) Create(ctx context.Context, o payment.Order) (payment.Checkout, error) {
	p := &stripe.CheckoutSessionCreateParams{
		Mode: stripe.String("payment"), ClientReferenceID: stripe.String(o.TopUpID), SuccessURL: stripe.String(o.SuccessURL), CancelURL: stripe.String(o.CancelURL),
		LineItems: []*stripe.CheckoutSessionCreateLineItemParams{{Quantity: stripe.Int64(1), PriceData: &stripe.CheckoutSessionCreateLineItemPriceDataParams{
			Currency: stripe.String(strings.ToLower(contract.Currency)), UnitAmount: stripe.Int64(o.AmountCents), TaxBehavior: stripe.String("exclusive"),
			ProductData: &stripe.CheckoutSessionCreateLineItemPriceDataProductDataParams{Name: stripe.String(s.name)},
		}}},
		AutomaticTax:      &stripe.CheckoutSessionCreateAutomaticTaxParams{Enabled: stripe.Bool(true)},
		InvoiceCreation:   &stripe.CheckoutSessionCreateInvoiceCreationParams{Enabled: stripe.Bool(o.Invoice)},
		PaymentIntentData: &stripe.CheckoutSessionCreatePaymentIntentDataParams{Metadata: map[string]string{topUpKey: o.TopUpID}},
	}
	if o.CustomerID == "" {
		p.CustomerCreation = stripe.String("always")
	} else {
		p.Customer = stripe.String(o.CustomerID)
		p.CustomerUpdate = &stripe.CheckoutSessionCreateCustomerUpdateParams{Address: stripe.String("auto")}
	}
	p.SetIdempotencyKey(o.TopUpID)
	made, err := s.client.V1CheckoutSessions.Create(ctx, p)
	if err != nil {
		return payment.Checkout{}, fmt.Errorf("make a checkout session: %w", err)
	}
	return payment.Checkout{SessionID: made.ID, URL: made.URL}, nil
}

// expanded are the objects that come with a session.
func expanded(prefix string) []*string {
	return []*string{stripe.String(prefix + "payment_intent.latest_charge"), stripe.String(prefix + "invoice")}
}

// Read retrieves a Checkout Session, with its charge and its disputes.
func (s *Stripe) Read(ctx context.Context, sessionID string) (payment.State, error) {
	found, err := s.client.V1CheckoutSessions.Retrieve(ctx, sessionID, &stripe.CheckoutSessionRetrieveParams{Expand: expanded("")})
	if err != nil {
		return payment.State{}, fmt.Errorf("retrieve checkout session %s: %w", sessionID, err)
	}
	return s.state(ctx, found)
}

// TopUpOf reads the top-up in a payment's metadata.
func (s *Stripe) TopUpOf(ctx context.Context, paymentID string) (string, error) {
	found, err := s.client.V1PaymentIntents.Retrieve(ctx, paymentID, nil)
	if err != nil {
		return "", fmt.Errorf("retrieve payment %s: %w", paymentID, err)
	}
	return found.Metadata[topUpKey], nil
}

// List lists Checkout Sessions.
func (s *Stripe) List(ctx context.Context, since, until time.Time, visit func(payment.State) error) error {
	p := &stripe.CheckoutSessionListParams{
		CreatedRange: &stripe.RangeQueryParams{GreaterThanOrEqual: since.Unix(), LesserThan: until.Unix()}, Expand: expanded("data."),
	}
	p.Limit = stripe.Int64(100)
	for found, err := range s.client.V1CheckoutSessions.List(ctx, p).All(ctx) {
		if err != nil {
			return fmt.Errorf("list checkout sessions: %w", err)
		}
		state, err := s.state(ctx, found)
		if err == nil {
			err = visit(state)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// state translates a session. Only a disputed charge costs another call.
func (s *Stripe) state(ctx context.Context, c *stripe.CheckoutSession) (payment.State, error) {
	out := payment.State{
		SessionID: c.ID, TopUpID: c.ClientReferenceID, Currency: strings.ToUpper(string(c.Currency)), SubtotalCents: c.AmountSubtotal, TotalCents: c.AmountTotal,
		Phase: phase(c), CreatedAt: time.Unix(c.Created, 0).UTC(),
	}
	if c.Customer != nil {
		out.CustomerID = c.Customer.ID
	}
	if c.PaymentIntent == nil {
		return out, nil
	}
	out.PaymentID = c.PaymentIntent.ID
	if charge := c.PaymentIntent.LatestCharge; charge != nil {
		out.RefundedCents, out.ReceiptURL = charge.AmountRefunded, charge.ReceiptURL
		if charge.Disputed {
			if err := s.disputes(ctx, &out); err != nil {
				return out, err
			}
		}
	}
	if c.Invoice != nil && c.Invoice.HostedInvoiceURL != "" {
		out.ReceiptURL = c.Invoice.HostedInvoiceURL
	}
	return out, nil
}

// phase is how far a session is. A delayed method completes the session before its money
// comes; when the bank refuses, the payment asks for another method.
func phase(c *stripe.CheckoutSession) payment.Phase {
	switch {
	case c.PaymentStatus == stripe.CheckoutSessionPaymentStatusPaid:
		return payment.Collected
	case c.Status == stripe.CheckoutSessionStatusExpired:
		return payment.Ended
	case c.Status == stripe.CheckoutSessionStatusComplete && c.PaymentIntent != nil &&
		(c.PaymentIntent.Status == stripe.PaymentIntentStatusRequiresPaymentMethod || c.PaymentIntent.Status == stripe.PaymentIntentStatusCanceled):
		return payment.Refused
	}
	return payment.Waiting
}

// disputes adds the disputes of a payment. An inquiry takes nothing yet.
func (s *Stripe) disputes(ctx context.Context, out *payment.State) error {
	for d, err := range s.client.V1Disputes.List(ctx, &stripe.DisputeListParams{PaymentIntent: stripe.String(out.PaymentID)}).All(ctx) {
		if err != nil {
			return fmt.Errorf("list disputes of %s: %w", out.PaymentID, err)
		}
		won := d.Status == stripe.DisputeStatusWon
		taken := d.Status == stripe.DisputeStatusNeedsResponse || d.Status == stripe.DisputeStatusUnderReview || d.Status == stripe.DisputeStatusLost
		out.Disputes = append(out.Disputes, payment.Dispute{ID: d.ID, Cents: d.Amount, Taken: taken, Won: won, Lost: d.Status == stripe.DisputeStatusLost})
	}
	return nil
}
