package web_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"svc.example/internal/app"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/demo"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/stripetest"
)

// TestAPersonPaysAtTheProviderAndNoPageCredits: the page that one comes back to waits for
// the provider's word.
func TestAPersonPaysAtTheProviderAndNoPageCredits(t *testing.T) {
	t.Parallel()
	provider := stripetest.New(t)
	running, url := apptest.Start(t, app.Config{Data: t.TempDir(), Stripe: &app.Stripe{Key: stripetest.Key, Secrets: []string{stripetest.Secret}, URL: provider.URL}})
	w := &apptest.World{App: running, URL: url}
	p := personOf(t, w, 0)
	p.open("/console/wallet").want(t, http.StatusOK, "Add credit")
	for amount, why := range map[string]string{"": "is empty", "4.99": "must be $5.00 to $1,000.00", "ten": "US dollars"} {
		p.submit("/console/wallet/top-ups", "amount", amount).want(t, http.StatusBadRequest, why)
	}
	p.submit("/console/wallet/top-ups", "amount", "25").want(t, http.StatusOK, "$25.00 to pay", `href="https://checkout.stripe.com/c/pay/`)
	id := provider.Newest()
	back := "/console/wallet?top_up=" + id
	p.open(back).want(t, http.StatusOK, "to pay")
	if err := provider.Pay(id); err != nil {
		t.Fatal(err)
	}
	p.open(back).want(t, http.StatusOK, "<dd>$0.00</dd>", "to pay")
	ring(t, url, provider)
	p.open(back).want(t, http.StatusOK, "<dd>$25.00</dd>", "The payment of $25.00: Paid.", `href="https://invoice.stripe.com/i/`)
}

// ring delivers the events of a payment provider that wait.
func ring(t *testing.T, base string, p *stripetest.Provider) {
	t.Helper()
	for _, event := range p.Events() {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/v1/payments/stripe", strings.NewReader(string(event.Body)))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Stripe-Signature", stripetest.Sign(event.Body, stripetest.Secret, time.Now()))
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusOK {
			t.Fatalf("the event: %d", res.StatusCode)
		}
	}
}

func TestWithoutAProviderTheWalletSaysWhoAddsCredit(t *testing.T) {
	t.Parallel()
	p := personOf(t, worlds.On(t, "sqlite"), 0)
	p.open("/console/wallet").want(t, http.StatusOK, "does not take payments online", "ask its operator")
	p.submit("/console/wallet/top-ups", "amount", "25").want(t, http.StatusServiceUnavailable, "does not take payments online")
}

// TestAPersonSaysWhenTheWalletIsLow, and reads on the page that it does not cover a job like
// the last one.
func TestAPersonSaysWhenTheWalletIsLow(t *testing.T) {
	t.Parallel()
	worlds.Each(t, func(t *testing.T, w *apptest.World) {
		p := personOf(t, w, 9)
		p.open("/console/wallet").want(t, http.StatusOK, `name="below"`, `value=""`)
		p.submit("/console/wallet/alert", "below", "lots").want(t, http.StatusBadRequest, "US dollars", `value="lots"`)
		p.submit("/console/wallet/alert", "below", "2.5").want(t, http.StatusBadRequest, "US dollars")
		p.submit("/console/wallet/alert", "below", "2.50").want(t, http.StatusOK, `value="2.50"`)
		p.submit("/console/wallet/alert", "below", "").want(t, http.StatusOK, `value=""`)
		const low = "does not cover another job like your last one ($0.05)"
		if page := p.open("/console/wallet"); strings.Contains(page.text, "does not cover") {
			t.Error("it is low before any job")
		}
		priced := p.upload("demo.blend", demo.Scene())
		priced = p.submit(priced.path+"/frames", "frames", "1-5")
		p.submit(priced.path+"/start", "quote_id", priced.hidden(t, "quote_id"), "terms", contract.LegalAcceptance).want(t, http.StatusOK)
		p.open("/console/wallet").want(t, http.StatusOK, low)
	})
}
