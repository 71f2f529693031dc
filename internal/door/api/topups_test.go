package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"svc.example/internal/app"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/stripetest"
)

// TestATopUpIsPaidAtTheProviderAndThenInTheWallet goes the whole way over HTTP, and an
// agent key has no part in it.
func TestATopUpIsPaidAtTheProviderAndThenInTheWallet(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		provider := stripetest.New(t)
		s := start(t, url, func(c *app.Config) {
			c.Stripe = &app.Stripe{Key: stripetest.Key, Secrets: []string{"whsec_next", stripetest.Secret}, URL: provider.URL}
		})
		made := s.call("POST", "/v1/wallet/top-ups", s.account, jsonBody(`{"amount_cents":2500}`))
		id := made.text("top_up_id")
		if made.status != http.StatusOK || made.text("status") != "open" || !strings.HasPrefix(made.text("checkout_url"), "https://checkout.stripe.com/") {
			t.Fatalf("got %d %v", made.status, made.body)
		}
		if err := provider.Pay(id); err != nil {
			t.Fatal(err)
		}
		before, _ := s.wallet()
		event := provider.Events()[0]
		for _, signature := range []string{"", stripetest.Sign(event.Body, "whsec_other", time.Now())} {
			a := s.callWith("POST", "/v1/payments/stripe", "", map[string]string{"Stripe-Signature": signature}, jsonBody(string(event.Body)))
			if a.status != http.StatusBadRequest || a.code() != fault.InvalidSignature {
				t.Errorf("signed by %q: %d %v", signature, a.status, a.body)
			}
		}
		for range 2 {
			a := s.callWith("POST", "/v1/payments/stripe", "", map[string]string{"Stripe-Signature": stripetest.Sign(event.Body, stripetest.Secret, time.Now())}, jsonBody(string(event.Body)))
			if a.status != http.StatusOK {
				t.Fatalf("got %d %v", a.status, a.body)
			}
		}
		if after, _ := s.wallet(); after != before+2500 {
			t.Errorf("the wallet had %v and has %v", before, after)
		}
		paid := s.call("GET", "/v1/wallet/top-ups/"+id, s.account, body{})
		if paid.text("status") != "paid" || paid.body["checkout_url"] != nil || paid.text("receipt_url") == "" || paid.text("paid_at") == "" {
			t.Errorf("got %v", paid.body)
		}
		if all := s.call("GET", "/v1/wallet/top-ups?limit=1", s.account, body{}).body["top_ups"].([]any); len(all) != 1 {
			t.Errorf("listed are %v", all)
		}
		if a := s.call("POST", "/v1/wallet/top-ups", s.agent, jsonBody(`{"amount_cents":2500}`)); a.status != http.StatusUnauthorized {
			t.Errorf("an agent key: %d", a.status)
		}
		s.billed(id)
		huge := jsonBody(`{"id":"` + strings.Repeat("a", 65<<10) + `"}`)
		if a := s.callWith("POST", "/v1/payments/stripe", "", nil, huge); a.status != http.StatusRequestEntityTooLarge {
			t.Errorf("a huge event: %d", a.status)
		}
	})
}

// billed reads the invoice of a payment of 25 dollars, and its credit note, by the routes.
func (s *service) billed(topUpID string) {
	s.t.Helper()
	const path = "/v1/wallet/invoices"
	one := s.call("GET", path+"/INV-000001", s.account, body{})
	if one.text("kind") != "receipt" || one.text("top_up_id") != topUpID || one.body["total_cents"] != 2500.0 || one.body["tax_basis_points"] != nil || one.body["corrects"] != nil {
		s.t.Errorf("the invoice is %v", one.body)
	}
	res, file := s.send("GET", one.text("pdf_url"), s.account, nil, nil, "")
	if h := res.Header; res.StatusCode != http.StatusOK || !strings.HasPrefix(string(file), "%PDF-") || h.Get("Content-Type") != "application/pdf" || !strings.Contains(h.Get("Content-Disposition"), "INV-000001.pdf") {
		s.t.Errorf("the PDF: %d %v", res.StatusCode, h)
	}
	if all := s.call("GET", path+"?limit=1", s.account, body{}); len(all.body["invoices"].([]any)) != 1 {
		s.t.Errorf("listed are %v", all.body)
	}
	for _, missing := range []string{path + "/INV-000002", path + "/INV-000002/pdf", path + "?before=INV-000002"} {
		if a := s.call("GET", missing, s.account, body{}); a.status != http.StatusNotFound || a.code() != fault.InvoiceNotFound {
			s.t.Errorf("%s: %d %v", missing, a.status, a.body)
		}
	}
}

// ring delivers the events of a payment provider that wait.
func (s *service) ring(p *stripetest.Provider) {
	s.t.Helper()
	for _, event := range p.Events() {
		a := s.callWith("POST", "/v1/payments/stripe", "", map[string]string{"Stripe-Signature": stripetest.Sign(event.Body, stripetest.Secret, time.Now())}, jsonBody(string(event.Body)))
		if a.status != http.StatusOK {
			s.t.Fatalf("the event: %d %v", a.status, a.body)
		}
	}
}

func TestWithoutAProviderNothingIsToppedUp(t *testing.T) {
	t.Parallel()
	s := start(t, dbtest.URL(t, "sqlite"), func(*app.Config) {})
	for path, b := range map[string]body{"/v1/wallet/top-ups": jsonBody(`{"amount_cents":2500}`), "/v1/payments/stripe": jsonBody(`{}`)} {
		if a := s.call("POST", path, s.account, b); a.status != http.StatusServiceUnavailable || a.code() != fault.PaymentsUnavailable {
			t.Errorf("%s: %d %v", path, a.status, a.body)
		}
	}
	if a := s.call("GET", "/v1/wallet/top-ups", s.account, body{}); a.status != http.StatusOK {
		t.Errorf("the list: %d", a.status)
	}
}
