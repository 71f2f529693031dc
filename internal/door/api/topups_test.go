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
		huge := jsonBody(`{"id":"` + strings.Repeat("a", 65<<10) + `"}`)
		if a := s.callWith("POST", "/v1/payments/stripe", "", nil, huge); a.status != http.StatusRequestEntityTooLarge {
			t.Errorf("a huge event: %d", a.status)
		}
	})
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
