package stripeapi

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stripe/stripe-go/v86"

	"svc.example/internal/test/stripetest"
	"svc.example/internal/work/payment"
)

// mock starts stripe-mock, which is Stripe's own: it refuses requests that Stripe's API does
// not have, and answers with Stripe's examples. It keeps nothing.
func mock(t *testing.T) (url string) {
	t.Helper()
	program, err := filepath.Abs(filepath.Join("..", "..", "..", "..", ".tools", "stripe-mock"))
	if err == nil {
		_, err = os.Stat(program)
	}
	if err != nil {
		t.Fatalf("this test asks Stripe's mock: run scripts/install-stripe-mock: %v", err)
	}
	command := exec.Command(program, "-http-addr", "127.0.0.1:0", "-https-addr", "127.0.0.1:0")
	said, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	for lines := bufio.NewScanner(said); lines.Scan(); {
		if _, address, found := strings.Cut(lines.Text(), "Listening for HTTP at address: "); found {
			return "http://" + address
		}
	}
	t.Fatal("Stripe's mock does not say where it listens")
	return ""
}

// TestStripeTakesOurRequests sends every request that this package makes.
func TestStripeTakesOurRequests(t *testing.T) {
	t.Parallel()
	url := mock(t)
	s := New(stripetest.Key, url, "credit")
	order := payment.Order{TopUpID: "TOP-1", AmountCents: 500, SuccessURL: "https://svc.example.com/ok", CancelURL: "https://svc.example.com/no"}
	for _, customer := range []string{"", "cus_1"} {
		order.CustomerID, order.Invoice = customer, customer == ""
		made, err := s.Create(t.Context(), order)
		if err != nil || made.SessionID == "" {
			t.Errorf("a session for the customer %q: %+v, %v", customer, made, err)
		}
	}
	if _, err := s.Read(t.Context(), "cs_1"); err != nil {
		t.Error(err)
	}
	if _, err := s.TopUpOf(t.Context(), "pi_1"); err != nil {
		t.Error(err)
	}
	if err := s.disputes(t.Context(), &payment.State{PaymentID: "pi_1"}); err != nil {
		t.Error(err)
	}
	listed := 0
	err := s.List(t.Context(), time.Unix(1, 0), time.Unix(2, 0), func(payment.State) error {
		listed++
		return nil
	})
	if err != nil || listed == 0 {
		t.Errorf("%d sessions are listed, %v", listed, err)
	}
	// The mock judges: it refuses what Stripe's API does not have.
	if wrong := ask(t, http.MethodPost, url+"/v1/checkout/sessions", "mode=gift"); wrong["error"] == nil {
		t.Errorf("a session of no mode is taken: %v", wrong)
	}
}

// TestTheProviderOfTestsAnswersInStripesForms: each member of its answers is one of Stripe's
// examples, of the same kind.
func TestTheProviderOfTestsAnswersInStripesForms(t *testing.T) {
	t.Parallel()
	url, fake := mock(t), stripetest.New(t)
	made, err := New(stripetest.Key, fake.URL, "credit").Create(t.Context(), payment.Order{
		TopUpID: "TOP-1", AmountCents: 500, SuccessURL: "https://svc.example.com/ok", CancelURL: "https://svc.example.com/no", Invoice: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	session := "/v1/checkout/sessions/" + made.SessionID
	hold(t, "an open session", ask(t, http.MethodGet, fake.URL+session, ""), ask(t, http.MethodGet, url+session, ""))
	if err := fake.Pay("TOP-1"); err != nil {
		t.Fatal(err)
	}
	if _, err := fake.Dispute("TOP-1"); err != nil {
		t.Fatal(err)
	}
	expand := "?expand[]=payment_intent.latest_charge&expand[]=invoice"
	paid := ask(t, http.MethodGet, fake.URL+session+expand, "")
	intent, _ := paid["payment_intent"].(map[string]any)
	id, _ := intent["id"].(string)
	charge, _ := intent["latest_charge"].(map[string]any)
	invoice, _ := paid["invoice"].(map[string]any)
	if id == "" || charge == nil || invoice == nil {
		t.Fatalf("a paid session has no payment, charge or invoice: %v", paid)
	}
	for what, pair := range map[string][2]map[string]any{
		"a charge":   {charge, ask(t, http.MethodGet, url+"/v1/charges/ch_1", "")},
		"an invoice": {invoice, ask(t, http.MethodGet, url+"/v1/invoices/in_1", "")},
		"a payment":  {ask(t, http.MethodGet, fake.URL+"/v1/payment_intents/"+id, ""), ask(t, http.MethodGet, url+"/v1/payment_intents/pi_1", "")},
		"a list":     {ask(t, http.MethodGet, fake.URL+"/v1/disputes?payment_intent="+id, ""), ask(t, http.MethodGet, url+"/v1/disputes?payment_intent="+id, "")},
	} {
		hold(t, what, pair[0], pair[1])
	}
	disputes, _ := ask(t, http.MethodGet, fake.URL+"/v1/disputes?payment_intent="+id, "")["data"].([]any)
	if len(disputes) != 1 {
		t.Fatalf("the payment has the disputes %v", disputes)
	}
	dispute, _ := disputes[0].(map[string]any)
	hold(t, "a dispute", dispute, ask(t, http.MethodGet, url+"/v1/disputes/dp_1", ""))
}

// hold compares the members of an answer with an example. What is an object in one and a
// name in the other is expanded in one; null matches everything.
func hold(t *testing.T, what string, answer, example map[string]any) {
	t.Helper()
	for name, value := range answer {
		like, there := example[name]
		if !there {
			t.Errorf("%s has %s, which Stripe's has not", what, name)
			continue
		}
		kind, want := fmt.Sprintf("%T", value), fmt.Sprintf("%T", like)
		_, object := value.(map[string]any)
		_, named := like.(string)
		if value != nil && like != nil && kind != want && !(object && named) {
			t.Errorf("%s: %s is %s, and of Stripe's %s", what, name, kind, want)
		}
	}
}

// ask sends a request as the account and returns the answer.
func ask(t *testing.T, method, url, form string) (answer map[string]any) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(form))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+stripetest.Key)
	request.Header.Set("Stripe-Version", stripe.APIVersion)
	if form != "" {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		t.Fatalf("%s: %v", url, err)
	}
	return answer
}
