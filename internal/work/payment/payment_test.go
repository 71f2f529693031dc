package payment_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/stripetest"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/payment"
	"svc.example/internal/work/wallet"
)

func TestAPaidTopUpIsCreditedOnceHoweverOftenItsEventComes(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		made := w.create()
		if made.Status != payment.Open || made.CheckoutURL == "" {
			t.Fatalf("got %+v", made)
		}
		w.want(made.ID, payment.Open, 0, 0)
		w.must(w.provider.Pay(made.ID))
		event := w.provider.Events()[0]
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if err := w.ring(event); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		w.want(made.ID, payment.Paid, 2500, 0)
		calls := w.provider.Calls()
		w.must(w.ring(event))
		if w.provider.Calls() != calls {
			t.Error("an event that was worked on asked the provider again")
		}
	})
}

// TestAnEventIsADoorbell: what it says of money, owner and state is not believed.
func TestAnEventIsADoorbell(t *testing.T) {
	t.Parallel()
	each(t, func(_ *testing.T, w *world) {
		made := w.create()
		w.must(w.provider.Pay(made.ID))
		paid := w.provider.Events()[0]
		other := w.create()
		lie := strings.NewReplacer(made.ID, other.ID, "evt_", "evt_lie", "2500", "99999").Replace(string(paid.Body))
		w.must(w.ring(stripetest.Event{Body: []byte(lie)}))
		w.want(other.ID, payment.Open, 0, 0)
		big := strings.Replace(string(paid.Body), `"amount_subtotal":2500`, `"amount_subtotal":9900`, 1)
		w.must(w.ring(stripetest.Event{Body: []byte(big)}))
		w.want(made.ID, payment.Paid, 2500, 0)
	})
}

func TestMoneyThatComesLaterIsCreditedWhenItComes(t *testing.T) {
	t.Parallel()
	each(t, func(_ *testing.T, w *world) {
		arrives, bounces := w.create(), w.create()
		w.must(w.provider.PayLater(arrives.ID), w.provider.PayLater(bounces.ID))
		w.deliver()
		w.want(arrives.ID, payment.Open, 0, 0)
		w.must(w.provider.Arrive(arrives.ID), w.provider.Bounce(bounces.ID))
		w.deliver()
		w.want(arrives.ID, payment.Paid, 2500, 0)
		w.want(bounces.ID, payment.Failed, 2500, 0)
	})
}

// TestPaidWinsOverExpired: the provider's present state counts, not the order of events.
func TestPaidWinsOverExpired(t *testing.T) {
	t.Parallel()
	each(t, func(_ *testing.T, w *world) {
		made := w.create()
		w.must(w.provider.Pay(made.ID), w.provider.Refund(made.ID, 500))
		events := w.provider.Events()
		slices.Reverse(events)
		for _, e := range events {
			w.must(w.ring(e))
		}
		w.want(made.ID, payment.Paid, 2000, 0)
		ended := w.create()
		w.must(w.provider.Expire(ended.ID))
		w.deliver()
		w.want(ended.ID, payment.Expired, 2000, 0)
	})
}

// TestTaxIsNoCredit: the credit is the amount of the row, and a refund of the whole takes
// back no more than that.
func TestTaxIsNoCredit(t *testing.T) {
	t.Parallel()
	each(t, func(_ *testing.T, w *world) {
		w.provider.SetTax(19)
		made := w.create()
		w.must(w.provider.Pay(made.ID))
		w.deliver()
		w.want(made.ID, payment.Paid, 2500, 0)
		w.must(w.provider.Refund(made.ID, 1190))
		w.deliver()
		w.want(made.ID, payment.Paid, 1500, 0)
		w.must(w.provider.Refund(made.ID, 1785))
		w.deliver()
		w.want(made.ID, payment.Refunded, 0, 0)
	})
}

func TestADisputeTakesBackAndIsGivenBackWhenWon(t *testing.T) {
	t.Parallel()
	each(t, func(_ *testing.T, w *world) {
		made := w.create()
		w.must(w.provider.Pay(made.ID))
		w.deliver()
		w.write(func(ctx context.Context, tx *db.Tx) error {
			return wallet.Reserve(ctx, tx, w.workspace, "JOB-1", 2000)
		})
		_, err := w.provider.Dispute(made.ID)
		w.must(err)
		w.deliver()
		w.want(made.ID, payment.Disputed, 0, 2000)
		w.must(w.provider.Close(made.ID, true))
		w.deliver()
		w.want(made.ID, payment.Paid, 500, 0)
		_, err = w.provider.Dispute(made.ID)
		w.must(err, w.provider.Close(made.ID, false))
		w.deliver()
		w.want(made.ID, payment.Disputed, 0, 2000)
		w.write(func(ctx context.Context, tx *db.Tx) error {
			return wallet.Release(ctx, tx, w.workspace, "JOB-1", 2000)
		})
		w.want(made.ID, payment.Disputed, 0, 0)
	})
}

// TestALostAnswerMakesNoSecondPage, and the event of a page that we do not know yet finds
// its top-up.
func TestALostAnswerMakesNoSecondPage(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.provider.LoseNextAnswer()
		if _, err := w.Create(t.Context(), identity.Principal{WorkspaceID: w.workspace}, 2500); !fault.Is(err, fault.Unavailable) {
			t.Fatalf("got %v", err)
		}
		lost := w.list()[0]
		w.want(lost.ID, payment.Created, 0, 0)
		w.must(w.Read(t.Context(), lost.ID, nil))
		w.want(lost.ID, payment.Open, 0, 0)
		w.must(w.provider.Pay(lost.ID))
		w.deliver()
		w.want(lost.ID, payment.Paid, 2500, 0)
		pages := 0
		w.must(w.Provider.List(t.Context(), time.Now().Add(-time.Hour), time.Now().Add(time.Hour), func(payment.State) error { pages++; return nil }))
		if pages != 1 {
			t.Errorf("%d pages were made", pages)
		}
	})
}

func (w *world) list() (all []payment.TopUp) {
	w.Helper()
	w.must(w.DB.Read(w.Context(), func(tx *db.Tx) (err error) {
		all, err = payment.List(w.Context(), tx, w.workspace, "", 100)
		return err
	}))
	return all
}

// TestTheSecondPaymentIsOfTheSameCustomer: the provider has one name for a workspace.
func TestTheSecondPaymentIsOfTheSameCustomer(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		customers := map[string]bool{}
		for range 2 {
			made := w.create()
			w.must(w.provider.Pay(made.ID))
			w.deliver()
		}
		w.must(w.Provider.List(t.Context(), time.Now().Add(-time.Hour), time.Now().Add(time.Hour), func(s payment.State) error {
			customers[s.CustomerID] = true
			return nil
		}))
		if len(customers) != 1 {
			t.Errorf("the customers are %v", customers)
		}
		if paid := w.list()[0]; paid.ReceiptURL == "" || paid.CheckoutURL != "" {
			t.Errorf("got %+v", paid)
		}
	})
}

func TestOnlySignedEventsAreTaken(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		made := w.create()
		w.must(w.provider.Pay(made.ID))
		event := w.provider.Events()[0]
		now := time.Now()
		for name, of := range map[string]struct {
			body      []byte
			signature string
		}{
			"another secret":  {event.Body, stripetest.Sign(event.Body, "whsec_other", now)},
			"an old stamp":    {event.Body, stripetest.Sign(event.Body, stripetest.Secret, now.Add(-10*time.Minute))},
			"a changed body":  {append(slices.Clone(event.Body), ' '), stripetest.Sign(event.Body, stripetest.Secret, now)},
			"no signature":    {event.Body, ""},
			"a broken header": {event.Body, "t=x,v1=y"},
		} {
			if err := w.Ring(t.Context(), of.body, of.signature); !fault.Is(err, fault.InvalidSignature) {
				t.Errorf("%s: %v", name, err)
			}
		}
		w.want(made.ID, payment.Open, 0, 0)
		w.Secrets = []string{"whsec_new", stripetest.Secret} // while one replaces the other
		w.must(w.ring(event))
		w.want(made.ID, payment.Paid, 2500, 0)
		w.must(w.Ring(t.Context(), event.Body, stripetest.Sign(event.Body, "whsec_new", now)))
	})
}

// TestEventsOfOthersAreTakenAndDoNothing: the account may sell other things too.
func TestEventsOfOthersAreTakenAndDoNothing(t *testing.T) {
	t.Parallel()
	each(t, func(_ *testing.T, w *world) {
		for _, object := range []map[string]any{
			{"object": "checkout.session", "id": "cs_1"}, {"object": "checkout.session", "id": "cs_1", "client_reference_id": "order 7"},
			{"object": "checkout.session", "id": "cs_1", "client_reference_id": "TOP-00000000000000000000000000000000"},
			{"object": "customer", "id": "cus_1"},
		} {
			body, err := json.Marshal(map[string]any{"id": "evt_x", "type": "x", "data": map[string]any{"object": object}})
			w.must(err, w.ring(stripetest.Event{Body: body}))
		}
	})
}

// TestAProviderThatDoesNotAnswerHasTheEventSentAgain, and nothing is half done.
func TestAProviderThatDoesNotAnswerHasTheEventSentAgain(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		made := w.create()
		w.must(w.provider.Pay(made.ID))
		event := w.provider.Events()[0]
		w.provider.SetDown(true)
		if err := w.ring(event); !fault.Is(err, fault.Unavailable) {
			t.Errorf("got %v", err)
		}
		w.want(made.ID, payment.Open, 0, 0)
		w.provider.SetDown(false)
		w.must(w.ring(event))
		w.want(made.ID, payment.Paid, 2500, 0)
	})
}

func TestAmountsAndOpenTopUpsHaveBounds(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		for _, cents := range []int64{-1, 0, 499, 100_001} {
			if _, err := w.Create(t.Context(), identity.Principal{WorkspaceID: w.workspace}, cents); !fault.Is(err, fault.InvalidRequest) {
				t.Errorf("%d cents: %v", cents, err)
			}
		}
		for range 10 {
			w.create()
		}
		if _, err := w.Create(t.Context(), identity.Principal{WorkspaceID: w.workspace}, 500); !fault.Is(err, fault.TopUpLimitReached) {
			t.Errorf("got %v", err)
		}
		if _, err := (&payment.Payments{}).Create(t.Context(), identity.Principal{WorkspaceID: w.workspace}, 500); !fault.Is(err, fault.PaymentsUnavailable) {
			t.Errorf("got %v", err)
		}
	})
}
