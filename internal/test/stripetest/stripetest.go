// Package stripetest is a payment provider for tests: it speaks as much of Stripe's HTTP API
// as package stripeapi asks, keeps the state of what was made, and signs events.
//
// What always holds: a call that is repeated with its idempotency key has the first answer,
// and with other parameters it is refused. What a test does to a payment, such as Pay or
// Dispute, queues the events that Stripe sends of it; the test delivers them when, in any
// order and number. The forms of objects are Stripe's: a test of package stripeapi compares
// them with the examples of Stripe's own mock. Start reading at New.
package stripetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stripe/stripe-go/v86"
)

// Key is the account's key. Requests with another are refused.
const Key = "sk_test_stripetest"

// Secret signs events.
const Secret = "whsec_stripetest"

// object is what Stripe answers with.
type object = map[string]any

// Event is an event that was not delivered yet.
type Event struct {
	ID, Type string
	TopUpID  string // whose payment it is about
	Body     []byte
}

// Provider is the fake. It is safe for concurrent use.
type Provider struct {
	URL string

	mu       sync.Mutex
	n        int
	sessions []*session
	answers  map[string]answer // by idempotency key
	events   []Event
	down     bool  // every call fails
	lose     bool  // the next create happens, and its answer gets lost
	tax      int64 // on what is paid, in percent
	calls    int
}

type answer struct {
	params string
	body   []byte
}

// session is a checkout session with its payment.
type session struct {
	id, topUp, customer, payment string
	cents, total                 int64
	status, paymentStatus        string
	paymentState                 string
	metadata                     object
	refunded                     int64
	disputes                     []*dispute
	created                      int64
	invoice                      bool // the provider writes one
}

type dispute struct {
	id, status string
	cents      int64
}

// New serves a provider until the test ends.
func New(t testing.TB) *Provider {
	t.Helper()
	p := &Provider{answers: map[string]answer{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/checkout/sessions", p.create)
	mux.HandleFunc("GET /v1/checkout/sessions/{id}", p.retrieve)
	mux.HandleFunc("GET /v1/checkout/sessions", p.list)
	mux.HandleFunc("GET /v1/payment_intents/{id}", p.intent)
	mux.HandleFunc("GET /v1/disputes", p.disputes)
	server := httptest.NewServer(p.admit(mux))
	t.Cleanup(server.Close)
	p.URL = server.URL
	return p
}

// admit refuses calls without the key, and every call while the provider is down.
func (p *Provider) admit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.calls++
		down := p.down
		p.mu.Unlock()
		switch {
		case down:
			w.Header().Set("Stripe-Should-Retry", "false")
			refuse(w, http.StatusServiceUnavailable, "api_error", "down")
		case r.Header.Get("Authorization") != "Bearer "+Key:
			refuse(w, http.StatusUnauthorized, "invalid_request_error", "Invalid API Key provided")
		case r.Header.Get("Stripe-Version") != stripe.APIVersion:
			refuse(w, http.StatusBadRequest, "invalid_request_error", "another API version")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func refuse(w http.ResponseWriter, status int, kind, message string) {
	reply(w, status, object{"error": object{"type": kind, "message": message}})
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the caller is gone
}

// SetDown has every call fail, or every call answered.
func (p *Provider) SetDown(down bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down, p.lose = down, false
}

// LoseNextAnswer has the next session made and the caller not told.
func (p *Provider) LoseNextAnswer() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lose = true
}

// SetTax sets the tax on later sessions, in percent.
func (p *Provider) SetTax(percent int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tax = percent
}

// Invoices says of each session, the oldest first, whether the provider writes an invoice.
func (p *Provider) Invoices() (all []bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.sessions {
		all = append(all, s.invoice)
	}
	return all
}

// Calls is how many calls came.
func (p *Provider) Calls() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls
}

// name makes an identifier.
func (p *Provider) name(prefix string) string {
	p.n++
	return fmt.Sprintf("%s_%08d", prefix, p.n)
}

// create makes a session.
func (p *Provider) create(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	form, err := readForm(r)
	if err != nil {
		refuse(w, http.StatusBadRequest, "invalid_request_error", err.Error())
		return
	}
	key := r.Header.Get("Idempotency-Key")
	before, known := p.answers[key]
	if known && before.params != form.Encode() {
		refuse(w, http.StatusBadRequest, "idempotency_error", "Keys for idempotent requests can only be used with the same parameters they were first used with.")
		return
	}
	if !known {
		s, err := p.sessionOf(form)
		if err != nil {
			refuse(w, http.StatusBadRequest, "invalid_request_error", err.Error())
			return
		}
		body, _ := json.Marshal(p.shown(s, false)) // of texts and numbers
		before = answer{form.Encode(), body}
		p.answers[key] = before
	}
	if p.lose {
		p.lose = false
		w.Header().Set("Stripe-Should-Retry", "false")
		refuse(w, http.StatusBadGateway, "api_error", "the answer is lost")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(before.body)
}

func readForm(r *http.Request) (url.Values, error) {
	if err := r.ParseForm(); err != nil {
		return nil, err
	}
	return r.PostForm, nil
}

// sessionOf checks the parameters as Stripe does and makes a session.
func (p *Provider) sessionOf(form url.Values) (*session, error) {
	price := "line_items[0][price_data]"
	cents, err := strconv.ParseInt(form.Get(price+"[unit_amount]"), 10, 64)
	switch {
	case err != nil:
		return nil, fmt.Errorf("invalid integer: %s", form.Get(price+"[unit_amount]"))
	case form.Get("mode") != "payment" || form.Get(price+"[currency]") != "usd" || form.Get("line_items[0][quantity]") != "1" || form.Get(price+"[product_data][name]") == "":
		return nil, errors.New("missing required param")
	case form.Get("success_url") == "" || form.Get("client_reference_id") == "":
		return nil, errors.New("missing required param: success_url")
	case form.Get("customer") != "" && form.Get("customer_creation") != "":
		return nil, errors.New("only one of these parameters may be given: customer, customer_creation")
	}
	s := &session{
		id: p.name("cs_test"), topUp: form.Get("client_reference_id"), customer: form.Get("customer"), cents: cents, total: cents + cents*p.tax/100,
		status: "open", paymentStatus: "unpaid", created: time.Now().Unix(), metadata: object{"top_up": form.Get("payment_intent_data[metadata][top_up]")},
		invoice: form.Get("invoice_creation[enabled]") == "true",
	}
	p.sessions = append(p.sessions, s)
	return s, nil
}

// find returns a session by its id, its payment or its top-up.
func (p *Provider) find(name string) *session {
	for _, s := range p.sessions {
		if name != "" && (s.id == name || s.payment == name || s.topUp == name) {
			return s
		}
	}
	return nil
}

func (p *Provider) retrieve(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.find(r.PathValue("id"))
	if s == nil {
		refuse(w, http.StatusNotFound, "invalid_request_error", "No such checkout.session")
		return
	}
	reply(w, http.StatusOK, p.shown(s, true))
}

func (p *Provider) intent(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.find(r.PathValue("id"))
	if s == nil {
		refuse(w, http.StatusNotFound, "invalid_request_error", "No such payment_intent")
		return
	}
	reply(w, http.StatusOK, s.intent(false))
}

// list lists sessions by their age, the newest first, in pages.
func (p *Provider) list(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q := r.URL.Query()
	since, _ := strconv.ParseInt(q.Get("created[gte]"), 10, 64)
	until, _ := strconv.ParseInt(q.Get("created[lt]"), 10, 64)
	limit, _ := strconv.Atoi(q.Get("limit"))
	found, more := []object{}, false
	behind := q.Get("starting_after")
	for _, s := range slices.Backward(p.sessions) {
		switch {
		case behind != "":
			if s.id == behind {
				behind = ""
			}
		case s.created < since || s.created >= until:
		case len(found) == limit:
			more = true
		default:
			found = append(found, p.shown(s, true))
		}
	}
	reply(w, http.StatusOK, object{"object": "list", "url": "/v1/checkout/sessions", "has_more": more, "data": found})
}

func (p *Provider) disputes(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	found := []object{}
	if s := p.find(r.URL.Query().Get("payment_intent")); s != nil {
		for _, d := range slices.Backward(s.disputes) {
			found = append(found, s.dispute(d))
		}
	}
	reply(w, http.StatusOK, object{"object": "list", "url": "/v1/disputes", "has_more": false, "data": found})
}

// shown is a session as Stripe writes it. expanded writes out its payment and its invoice.
func (p *Provider) shown(s *session, expanded bool) object {
	o := object{
		"id": s.id, "object": "checkout.session", "amount_subtotal": s.cents, "amount_total": s.total, "currency": "usd", "client_reference_id": s.topUp,
		"created": s.created, "expires_at": s.created + 86400, "livemode": false, "mode": "payment", "status": s.status, "payment_status": s.paymentStatus,
		"customer": nil, "payment_intent": nil, "invoice": nil, "url": nil, "metadata": object{},
	}
	if s.status == "open" {
		o["url"] = "https://checkout.stripe.com/c/pay/" + s.id
	}
	if s.customer != "" {
		o["customer"] = s.customer
	}
	if s.payment == "" {
		return o
	}
	o["payment_intent"] = s.payment
	if expanded {
		o["payment_intent"] = s.intent(true)
	}
	if s.paymentStatus == "paid" && s.invoice {
		o["invoice"] = "in_" + s.id
		if expanded {
			o["invoice"] = object{"id": "in_" + s.id, "object": "invoice", "hosted_invoice_url": "https://invoice.stripe.com/i/" + s.id}
		}
	}
	return o
}

func (s *session) intent(expanded bool) object {
	o := object{"id": s.payment, "object": "payment_intent", "amount": s.total, "currency": "usd", "status": s.paymentState, "metadata": s.metadata, "latest_charge": nil, "created": s.created, "livemode": false}
	if s.paymentState != "requires_payment_method" {
		o["latest_charge"] = "ch_" + s.payment
		if expanded {
			o["latest_charge"] = s.charge()
		}
	}
	return o
}

func (s *session) charge() object {
	return object{
		"id": "ch_" + s.payment, "object": "charge", "amount": s.total, "amount_refunded": s.refunded, "currency": "usd", "disputed": len(s.disputes) > 0,
		"payment_intent": s.payment, "receipt_url": "https://pay.stripe.com/receipts/" + s.payment, "refunded": s.refunded == s.total, "created": s.created, "livemode": false,
		"paid": s.paymentStatus == "paid", "metadata": s.metadata,
	}
}

func (s *session) dispute(d *dispute) object {
	return object{
		"id": d.id, "object": "dispute", "amount": d.cents, "currency": "usd", "charge": "ch_" + s.payment, "payment_intent": s.payment, "status": d.status,
		"reason": "fraudulent", "created": s.created, "livemode": false, "metadata": object{},
	}
}
